import { resolve } from 'node:path';
import { CliError, usageError } from '../../cli-error.ts';
import { isLoopback, normaliseServer, readKeyFile } from '../../connection/connection.ts';
import type { CommandContext } from '../../context.ts';
import {
  contextName,
  maskKey,
  readContexts,
  withContext,
  writeContexts,
} from '../../connection/contexts.ts';
import { readOwnKey } from '../../connection/own-key.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'login'> = async (input) => {
  const { context, flags } = input;
  const isSso = flags.sso;
  if (!isSso && flags.organization !== undefined)
    throw usageError('--organization goes with --sso alone', 'a key has its organization');
  const server = await serverOf(input);
  const name = contextName(context.globals.values.context, server);
  if (new URL(server).protocol === 'http:' && !isLoopback(server))
    context.output.warn(`${server} is not encrypted: others on the network can read the key`);
  const apiKey = await (isSso ? signIn(server, input) : readKey(server, context));
  const client = await context.connectTo({ server, apiKey });
  const key = await readOwnKey(client, context.signal);
  const organization = key.organization.name;
  const entry = {
    name,
    server,
    organization,
    keyName: key.name,
    apiKey,
    ...(isSso && { isSignIn: true }),
  };
  const contexts = withContext(await readContexts(context.io.env), entry);
  const file = await writeContexts(context.io.env, { ...contexts, current: name });
  return {
    data: {
      context: name,
      server,
      organization,
      key: maskKey(apiKey),
      key_name: key.name,
      scopes: key.scopes,
      file,
    },
    text: `context ${name}: key ${key.name} of organization ${organization} at ${server}\nstored in ${file}`,
  };
};

async function serverOf({ args, context }: InputOf<'login'>): Promise<string> {
  const { globals, io } = context;
  const given = args.url ?? (globals.origin('server')?.layer === 'flag' && globals.values.server);
  if (given) return normaliseServer(given);
  const name = globals.values.context;
  const { list } = await readContexts(io.env);
  if (name === undefined) return (await context.connection({ keyRequired: false })).server;
  const known = list.find((one) => one.name === name)?.server ?? globals.values.server;
  if (known !== undefined) return normaliseServer(known);
  throw usageError('the address of the gateway is missing', `gateway login URL --context ${name}`);
}

/** Loaded only for a sign-in at a provider. */
async function signIn(server: string, input: InputOf<'login'>): Promise<string> {
  const { signInWithProvider } = await import('../../connection/sso-login.ts');
  return signInWithProvider(server, input);
}

/** Reads the key from --api-key-file, else stdin, else the person at the terminal. */
async function readKey(server: string, context: CommandContext): Promise<string> {
  const { globals, io, signal } = context;
  const file = globals.values['api-key-file'];
  if (file !== undefined) return checked(readKeyFile(resolve(io.cwd, file)), file);
  if (io.stdin.isTTY !== true) return checked((await context.readStdin()).trim(), 'stdin');
  const { askSecret } = await import('../../input/ask-secret.ts');
  const terminal = { input: process.stdin, output: process.stderr, signal };
  return checked(await askSecret(`API key for ${server}: `, terminal), 'what was typed');
}

function checked(value: string, from: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(value)) return value;
  throw new CliError({
    code: 'no_api_key',
    message: value === '' ? `${from} contains no API key` : `${from} is not a single API key`,
    hint: 'gateway login URL --api-key-file FILE, or pipe the key in',
    exit: 'auth',
  });
}
