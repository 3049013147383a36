#!/usr/bin/env bash
# MovieLens 100K or 1M, as downloaded, to VW text in the order of time. A rating of 4 or 5 is a click.
#
#   scripts/datasets/movielens.sh ml-100k.zip|ml-1m.zip|FOLDER
#
# FOLDER is the unpacked archive. Needs unzip for an archive.
set -euo pipefail
if [ $# != 1 ]; then
  echo "usage: scripts/datasets/movielens.sh ml-100k.zip|ml-1m.zip|FOLDER" >&2
  exit 2
fi
export LC_ALL=C # the titles are Latin-1: bytes to us

# member NAME: this file of the archive or folder
member() {
  if [ -d "$archive" ]; then cat "$archive/$1"; else unzip -p "$archive" "*/$1"; fi
}
has() { member "$1" >/dev/null 2>&1; }
archive=$1
if has u.data; then
  users=u.user items=u.item ratings=u.data
elif has ratings.dat; then
  users=users.dat items=movies.dat ratings=ratings.dat
else
  echo "movielens: $archive holds neither u.data (100K) nor ratings.dat (1M)" >&2
  exit 1
fi

# The columns of u.item from the sixth on.
genres="unknown Action Adventure Animation Children's Comedy Crime Documentary Drama Fantasy Film-Noir
  Horror Musical Mystery Romance Sci-Fi Thriller War Western"

# Fields are separated by tabs, by | (and so are the genres of 1M) or by ::.
by_tabs() { sed -e 's/::/\t/g'; }
{
  echo users
  member $users | if [ $users = u.user ]; then tr '|' '\t'; else by_tabs | awk -F '\t' -v OFS='\t' '{ print $1, $3, $2, $4, $5 }'; fi
  echo items
  member $items | if [ $items = u.item ]; then
    awk -F '|' -v OFS='\t' -v names="$genres" '
      BEGIN { split(names, genre, " ") }
      { genres = ""
        for (i = 6; i <= NF; ++i) if ($i + 0 == 1) genres = genres " " genre[i - 5]
        print $1, $2, genres }'
  else
    by_tabs | awk -F '\t' -v OFS='\t' '{ gsub(/[|]/, " ", $3); print $1, $2, " " $3 }'
  fi
  echo ratings
  # By time, then in the order of the file.
  member $ratings | by_tabs | sort -s -n -t "$(printf '\t')" -k 4,4
} | awk -F '\t' '
  function words(text) { gsub(/[|:\t\r]/, "", text); gsub(/^ +| +$/, "", text); return tolower(text) }
  NF == 1 { part = $1; next }
  part == "users" { user[$1] = "|age " int($2 / 5) " |gender " $3 " |occupation " $4 " |zip " $5 }
  part == "items" {
    title = $2
    year = match(title, /\([0-9][0-9][0-9][0-9]\) *$/) ? substr(title, RSTART + 1, 4) : ""
    if (year != "") title = substr(title, 1, RSTART - 1)
    gsub(/[\r|:]/, "", $3)
    item[$1] = (year != "" ? "|year " year " " : "") ($3 != "" ? "|genres" $3 " " : "") "|title " words(title)
  }
  part == "ratings" {
    print ($3 >= 4 ? "1" : "-1") " |user " $1 " |item " $2 " " user[$1] " " item[$2] \
          " |hour " int($4 / 3600) % 24 " |weekday " (int($4 / 86400) + 4) % 7
  }' | tr -d '\r'
