"""What drives the tests of every layer, and of other people's backends.

`examples` is the table of example inputs for each op; `checks` are the laws every op must keep;
`strategies` draws random well-typed graphs (it needs hypothesis, and the table needs SciPy); `programs` draws random
programs that are written with NumPy beside Occelo, and says what NumPy's result allows (it needs SciPy).
"""
