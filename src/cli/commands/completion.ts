import { usageError } from '../cli-error.ts';
import type { CommandRun } from '../command.ts';

/** Every script hands the words to `gateway complete-words`, so that all shells offer the same. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_gateway() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(gateway complete-words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _gateway gateway
`,
  zsh: `#compdef gateway
_gateway() {
  local -a candidates
  candidates=("\${(@f)$(gateway complete-words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates || _files
}
compdef _gateway gateway
`,
  fish: `complete -c gateway -f -a '(gateway complete-words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName gateway -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '' }
  gateway complete-words -- @words 2>$null | Where-Object { $_ -like "$word*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
};

export const run: CommandRun = async ({ args }) => {
  const shell = args['shell'] ?? '';
  const script = SCRIPTS[shell];
  if (script === undefined) {
    throw usageError(`no completion for "${shell}"`, `known: ${Object.keys(SCRIPTS).join(', ')}`);
  }
  return { data: { shell, script }, text: script };
};
