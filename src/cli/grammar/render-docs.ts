import {
  flagEnv,
  otherNames,
  parentOf,
  shownName,
  type CommandSpec,
  type FlagSpec,
} from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import { usageOf } from './help.ts';

/** docs/cli.md, from the same table as the parser, so that it cannot go stale. */
export function renderDocs(commands: readonly CommandSpec[]): string {
  const shown = commands.filter(({ hidden, load }) => !hidden && load !== undefined);
  const groups = commands.filter(({ load }) => load === undefined);
  const sections = shown.map((command) => {
    const parent = groups.find(({ name }) => name === parentOf(command.name));
    return renderCommand(command, parent);
  });
  return `${INTRODUCTION}\n${globals()}\n\n${sections.join('\n\n')}\n\n${exits()}\n`;
}

const INTRODUCTION = `# Command line

<!-- Generated from src/cli/commands.ts; \`npx vitest run test/cli -u\` writes it again. -->

stdout carries only the result; progress, warnings and questions go to stderr. With \`-o json\` (or
\`--json\`) every command prints exactly one JSON document, also when it fails:
\`{schema, ok, data, warnings, error}\`. Streams are NDJSON: a first line \`{"type":"version"}\`, one
line per event, a last line \`{"type":"end","reason"}\`.

Tables fit 120 columns; \`-o wide\` shows every column, \`-o csv\` every member of a list. Instants are
in UTC. Commands that list or get something also take \`-o yaml\`, \`-o name\` (\`key/ci\`, one per line)
and \`-o jsonpath=EXPR\`, as in kubectl: \`{.items[*].name}\` for a list, \`.name\` for one object. Both
are also below \`.data\`, where jq finds them in \`-o json\`. An expression that matches nothing prints
nothing, says on stderr which members there are, and exits 0; an invalid one exits 64.

Values of a fixed list may share one flag: \`--scope inference,models\`. Variables of the commands on
Schedules are also taken under their former names, \`GATEWAY_DEPLOYMENTS_…\`.

Server and key come from flags, then the environment, then settings, then the context chosen by
\`gateway login\` or \`gateway config use-context\`, then the nearest \`.gateway\` directory of a running
gateway, then \`server.listen\` and \`server.data_dir\` of the project's file, then
\`http://127.0.0.1:8787\`. The key of a context is sent only to its own server. No flag takes a secret:
keys come from a login, \`GATEWAY_API_KEY\`, a file, or \`.gateway/admin.key\`. Flags take precedence over
environment variables, then \`.gatewayrc.yaml\` of the project, \`config.yaml\` of the user and of the
system; \`gateway config view --show-origin\` shows the origin of each setting.
`;

function renderCommand(command: CommandSpec, parent: CommandSpec | undefined): string {
  const aliases = otherNames(command, parent);
  const also =
    aliases.length === 0 ? '' : ` Also: ${aliases.map((name) => `\`${name}\``).join(', ')}.`;
  const examples = command.examples.map(({ command: line, note }) => `# ${note}\n${line}`);
  return [
    `## gateway ${shownName(command.name)}`,
    `${command.description ?? `${command.summary}.`}${also}`,
    ['```sh', usageOf(command), '', ...examples, '```'].join('\n'),
    flagTable(command),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

function flagTable(command: CommandSpec): string {
  const flags = command.flags ?? [];
  if (flags.length === 0) return '';
  const rows = flags.map((flag) => row(flag, flagEnv(flag, command)));
  return ['| Flag | Environment | |', '|---|---|---|', ...rows].join('\n');
}

function row(flag: FlagSpec, variable: string): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const value = flag.type === 'boolean' ? '' : ` ${flag.value ?? flag.type.toUpperCase()}`;
  const choices = flag.choices ?? flag.offers;
  const facts = [
    flag.description,
    choices && `One of ${choices.join(', ')}`,
    flag.repeatable && 'May be repeated',
    flag.default !== undefined && `Default: ${flag.default}`,
  ].filter((fact) => typeof fact === 'string');
  return `| \`${short}--${flag.name}${value}\` | \`${variable}\` | ${facts.join('. ')}. |`;
}

function globals(): string {
  const rows = GLOBAL_FLAGS.map((flag) => row(flag, flagEnv(flag)));
  return [
    '## Global flags',
    '',
    'Before or after the command.',
    '',
    '| Flag | Environment | |',
    '|---|---|---|',
    ...rows,
  ].join('\n');
}

function exits(): string {
  const rows = Object.values(EXIT).map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  return ['## Exit codes', '', '| Code | Meaning |', '|---|---|', ...rows].join('\n');
}
