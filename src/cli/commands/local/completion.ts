import { usageError } from '../../cli-error.ts';
import type { LightAnswer } from '../../command.ts';
import type { RunOf } from '../../commands.ts';

/**
 * Every script hands the words to `gateway complete-words`, so that all shells offer the same. Its
 * answer is taken as lines and never evaluated.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_gateway() {
  local line="\${COMP_LINE:0:COMP_POINT}" current candidate IFS=$' \\t\\n'
  local -a words
  read -ra words <<< "$line"
  case "$line" in *[[:space:]]) words+=('') ;; esac
  current="\${words[\${#words[@]}-1]}"
  # bash takes : and = for the ends of words, and replaces only what stands behind them.
  local kept="\${current%"\${current##*[:=]}"}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    [ -n "$candidate" ] && COMPREPLY+=("\${candidate#"$kept"}")
  done < <(gateway complete-words -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _gateway gateway
`,
  zsh: `#compdef gateway
_gateway() {
  local -a candidates
  candidates=("\${(@f)$(gateway complete-words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=("\${(@)candidates:#}")
  (( \${#candidates} )) && compadd -a candidates || _files
}
if [ "\${funcstack[1]}" = "_gateway" ]; then
  _gateway
else
  compdef _gateway gateway
fi
`,
  fish: `complete -c gateway -f -a '(gateway complete-words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName gateway -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  # Before 7.3 an empty word is lost on its way to a program unless it is quoted.
  if ($word -eq '') { $words += if ($PSVersionTable.PSVersion -lt [version]'7.3') { '""' } else { '' } }
  gateway complete-words '--' @words 2>$null | Where-Object { $_ -like "$word*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
};

export const run: RunOf<'completion'> = async ({ args }) => {
  const shell = args.shell;
  const found = answer([shell], []);
  if (found === undefined) {
    throw usageError(`no completion for "${shell}"`, `known: ${Object.keys(SCRIPTS).join(', ')}`);
  }
  return found;
};

/** Undefined: the words name no shell, or more than one. */
export const answer: LightAnswer = ([shell = '', ...more]) => {
  const script = more.length === 0 ? SCRIPTS[shell] : undefined;
  return script === undefined ? undefined : { data: { shell, script }, text: script };
};
