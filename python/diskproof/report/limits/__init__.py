"""What holds each cell back, in every form of report: sentences, tables, pictures, columns."""
