import { isSecretName } from '../../../runtime/process/secret-name.ts';
import { oneLine } from '../../../core/printable.ts';
import { isHeaderName } from '../../../runtime/tools/tool-credentials.ts';
import { usageError } from '../../cli-error.ts';
import type { CommandRun, Flags } from '../../command.ts';
import { findResource } from '../../resources/find-resource.ts';
import { readSecretValue } from '../../input/secret-value.ts';

const REQUIRED = ['agent', 'scope-name', 'secret-key'] as const;

export const run: CommandRun = async ({ args, flags, context }) => {
  const [agent, scopeName, secretKey] = REQUIRED.map((name) => required(flags, name));
  const value = await readSecretValue(flags, context);
  const client = await context.connect();
  const { signal } = context;
  const found = await findResource(client, { kind: 'agents', named: agent ?? '' }, signal);
  const body = {
    name: args['name'],
    organization: found['organization'],
    agent_id: found.id,
    scope: flags.text('scope') ?? 'mcp',
    scope_name: scopeName,
    secret_key: secretKey,
    group_key: flags.text('group-key'),
    weight: flags.number('weight'),
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

function required(flags: Flags, name: string): string {
  const value = flags.text(name);
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
