"""What messages say beside the error: words of other libraries, reasons why a name is missing, entries of docs/errors.md."""
