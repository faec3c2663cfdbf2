import { usageError } from '../cli-error.ts';
import { flagEnv, flagEnvs, shownName, type CommandResult } from '../command.ts';
import { COMMANDS } from '../commands.ts';
import { EXIT } from '../exit-codes.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import { globalFlagRows } from './help.ts';
import { withFlags } from './load-flags.ts';

/** A page of `gateway help` that is about no single command; throws `usage` for an unknown one. */
export async function helpTopic(name: string): Promise<CommandResult> {
  const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
  if (topic !== undefined) return topic();
  throw usageError(
    `there is no help on "${name}"`,
    `topics: ${Object.keys(TOPICS).join(', ')}, or a command`,
  );
}

const TOPICS: Readonly<Record<string, () => CommandResult | Promise<CommandResult>>> = {
  'exit-codes': () => {
    const rows = Object.values(EXIT);
    const lines = rows.map(({ code, meaning }) => `${String(code).padStart(4)}  ${meaning}`);
    return { data: rows, text: lines.join('\n') };
  },
  env: async () => {
    const commands = await withFlags(COMMANDS);
    const rows = [
      { variable: 'GATEWAY_API_KEY', sets: 'the API key of commands that call a gateway' },
      { variable: 'NO_COLOR', sets: '--no-color' },
      ...GLOBAL_FLAGS.map((flag) => ({ variable: flagEnv(flag), sets: `--${flag.name}` })),
      ...commands.flatMap((command) =>
        (command.flags ?? []).flatMap((flag) =>
          flagEnvs(flag, command).map((variable) => ({
            variable,
            sets: `--${flag.name} of ${shownName(command.name)}`,
          })),
        ),
      ),
    ];
    const width = Math.max(...rows.map(({ variable }) => variable.length));
    const lines = rows.map(({ variable, sets }) => `${variable.padEnd(width)}  ${sets}`);
    return {
      data: rows,
      text: `Flags win over the environment, it wins over files (gateway config view).\n\n${lines.join('\n')}`,
    };
  },
  flags: () => ({
    data: GLOBAL_FLAGS.map((flag) => ({ ...flag, variable: flagEnv(flag) })),
    text: [
      'Flags of every command, before or after its name.',
      ...globalFlagRows().map(([name, text]) => `${name}\n        ${text}`),
    ].join('\n\n'),
  }),
  config: () => ({ data: CONFIG.split('\n'), text: CONFIG }),
};

const CONFIG = `gateway.yaml has two halves.

  server:          how this process runs: address, storage, limits, log;
                   read by \`gateway start\`, never sent
  everything else  what the gateway serves: organizations, providers, models, keys;
                   read by \`gateway start\`, compared with a running gateway by plan and apply

Secrets are references, never text: \${secret:env:NAME}, \${secret:file:PATH},
or \${secret:exec:COMMAND}, which runs where --allow-exec or server.secrets.exec allows it.
Values may hold \${env:NAME} and \${env:NAME:-default}; $\${ writes a plain \${.
A .env next to the file sets what the environment does not; --no-env-file leaves it out.

  gateway init      write a first file
  gateway validate  check it: every problem with file, line and column
  gateway plan      what apply would change
  gateway apply     change it
  gateway schema    the JSON Schema of the file, for editors`;
