# A page's source with what it shares: a line "@include NAME" is the lines of man/shared/NAME.scd.
#
#   awk -f man/include.awk man/leveret-train.1.scd
FNR == 1 { shared = FILENAME; sub(/[^\/]*$/, "shared/", shared) }
!/^@include / { print; next }
{
  piece = shared $2 ".scd"
  while ((more = (getline line < piece)) > 0) print line
  if (more < 0) {
    print FILENAME ": there is no " piece > "/dev/stderr"
    exit 1
  }
  close(piece)
}
