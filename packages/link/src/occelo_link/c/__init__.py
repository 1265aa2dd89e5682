"""Loop programs as C, compiled by whatever compiler is found."""
