import { isSecretName } from '../../../runtime/process/secret-name.ts';
import { oneLine } from '../../../core/printable.ts';
import { isHeaderName } from '../../../runtime/tools/tool-credentials.ts';
import { usageError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import { findResource } from '../../resources/find-resource.ts';
import { readSecretValue } from '../../input/secret-value.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const REQUIRED = ['agent', 'scope-name', 'secret-key'] as const;

export const run: RunOf<'credentials create'> = async (input) => {
  const { args, flags, context } = input;
  const [agent, scopeName, secretKey] = REQUIRED.map((name) => required(flags, name));
  if (context.format === 'yaml') return declared(input);
  const value = await readSecretValue(flags, context);
  const client = await context.connect();
  const { signal } = context;
  const found = await findResource(client, { kind: 'agents', named: agent ?? '' }, signal);
  const body = {
    name: args.name,
    organization: found['organization'],
    agent_id: found.id,
    scope: flags.scope ?? 'mcp',
    scope_name: scopeName,
    secret_key: secretKey,
    group_key: flags['group-key'],
    weight: flags.weight,
    value,
  };
  const given = Object.fromEntries(Object.entries(body).filter(([, one]) => one !== undefined));
  const made = await client.admin('credentials').create(given, signal);
  const hint = wayOf(secretKey ?? '');
  if (hint !== undefined) context.output.warn(hint);
  const { id, name } = made;
  return {
    data: made,
    text: `credential ${oneLine(name)} (${id}) created: ${String(made['value_hint'])}`,
  };
};

/** The same as a file says it: the value is named there, and the one of stdin by a variable to set. */
async function declared({
  args,
  flags,
  context,
}: InputOf<'credentials create'>): Promise<CommandResult> {
  const { declareEntry } = await import('../../write/declare-entry.ts');
  const [agent, scopeName, secretKey] = REQUIRED.map((name) => required(flags, name));
  const name = args.name ?? `${scopeName}:${secretKey}`;
  const file = flags['value-file'];
  const variable = flags['value-env'] ?? toVariable(`credential ${name} value`);
  const entry = {
    name,
    agent_id: agent,
    scope: flags.scope ?? 'mcp',
    scope_name: scopeName,
    secret_key: secretKey,
    group_key: flags['group-key'],
    weight: flags.weight,
    value: file === undefined ? `\${secret:env:${variable}}` : `\${secret:file:${file}}`,
  };
  return declareEntry('credential', entry, context);
}

function toVariable(words: string): string {
  return words.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}

function required(
  flags: InputOf<'credentials create'>['flags'],
  name: (typeof REQUIRED)[number],
): string {
  const value = flags[name];
  if (value !== undefined) return value;
  throw usageError(
    `--${name} is missing`,
    'gateway credentials create --agent NAME --scope-name SERVER --secret-key TOKEN --value-stdin',
  );
}

/** Warning about a name that is neither that of a header nor that of a variable. */
function wayOf(secretKey: string): string | undefined {
  if (isHeaderName(secretKey) || isSecretName(secretKey)) return undefined;
  return `servers over HTTP get ${secretKey} as a bearer token; no process gets it, for its name is not one such as ACME_TOKEN or ACME_API_KEY`;
}
