# bash completion for leveret and leveret-mpi.
#
# Verbs and options are asked of the program itself (`leveret --help`, `leveret VERB --help_all`), so
# that they never differ from what it takes. Only the words that an option accepts stand here.

# _leveret_words PROGRAM [VERB]: the options, and without a verb also the verbs, one per line
_leveret_words() {
  "$@" --help_all 2>/dev/null | awk '
    /^[^ ]/ { verbs = tolower($0) ~ /^(subcommands|verbs)/ }
    /^  -/ { n = split($1, names, ","); for (i = 1; i <= n; ++i) print names[i] }
    /^  [a-z]/ && verbs { print $1 }'
}

# _leveret_values OPTION: the words it accepts, nothing where it takes a file, a name or a number
_leveret_values() {
  case $1 in
    --hash) echo "strings all" ;;
    --optimizer) echo "adagrad sgd ftrl adam linear=ftrl rows=adam layers=adam" ;;
    --adagrad) echo "weight slice" ;;
    --bad_lines) echo "fail skip max=" ;;
    --linear) echo "all none" ;;
    --heads) echo "mixed one mixed:fast=off" ;;
    --hidden) echo "none" ;;
    --tower) echo "mlp fm fwfm cross cross2 autoint dot dhen" ;;
    --model) echo "lr fm fwfm ffm deepffm wide_deep deepfm dcn dcnv2 pnn dlrm autoint moe dhen" ;;
    --log) echo "text json" ;;
    --link) echo "logistic identity" ;;
    --bits) echo "32 16 8 4" ;;
    --strategy) echo "des mesh" ;;
    --wire_bits) echo "32 16" ;;
    --rounding) echo "nearest stochastic" ;;
    --quoting) echo "rfc4180 none" ;;
    --numeric | --numeric_as) echo "log2bucket value both" ;;
    help)
      _leveret_words "$program" | grep -v '^-'
      echo vw models towers
      ;;
    convert) echo "criteo avazu kdd2012 libffm csv" ;;
  esac
}

_leveret() {
  local program=${COMP_WORDS[0]/#\~/$HOME} current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]} verb='' word words
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]]; then
      verb=$word
      break
    fi
  done
  # --option=value comes as three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi

  if [[ $current == -* ]]; then
    # Options are listed with _; what was typed with - finds them too.
    if [[ $current == --* ]]; then current=--$(tr - _ <<<"${current#--}"); fi
    words=$(_leveret_words "$program" ${verb:+"$verb"} | grep '^-')
  elif [[ -z $verb ]]; then
    words=$(_leveret_words "$program" | grep -v '^-')
  elif [[ $previous == -* ]]; then
    if [[ $previous == --* ]]; then previous=--$(tr - _ <<<"${previous#--}"); fi
    words=$(_leveret_values "$previous")
  elif [[ $previous == "$verb" ]]; then
    words=$(_leveret_values "$verb")
  fi
  if [[ $previous == --field && $current == @* ]]; then
    mapfile -t COMPREPLY < <(compgen -P @ -f -- "${current#@}")
    return
  fi
  # An empty answer falls back to file names (complete -o default).
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -o bashdefault -o default -F _leveret leveret leveret-mpi
