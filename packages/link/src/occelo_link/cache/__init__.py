"""The artefact cache: where compiled code is kept, so that nothing is compiled twice."""
