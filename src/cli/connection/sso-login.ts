import { spawn } from 'node:child_process';
import { parseJson } from '../../core/json/value.ts';
import { hasStrings } from '../../client/http/guards.ts';
import { sleep } from '../../client/http/sleep.ts';
import type { Client } from '../../client/create-client.ts';
import { CliError } from '../cli-error.ts';
import type { InputOf } from '../commands.ts';
import { openBrowser } from '../local/open-browser.ts';

interface DeviceGrant extends Record<string, unknown> {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete?: string | null;
  /** Seconds. */
  interval: number;
  expires_in: number;
}

const isGrant = hasStrings<DeviceGrant>('device_code', 'user_code', 'verification_uri');
const isKey = hasStrings<Record<string, unknown> & { value: string }>('value');
const SECOND_MS = 1_000;
const PATH = '/v1/account/sso';

/**
 * Shows the address and the code by which a person signs in at the provider of a gateway, waits for
 * it, and returns the key that the gateway makes. Throws `sso_expired` (exit 4) without a sign-in.
 */
export async function signInWithProvider(server: string, input: InputOf<'login'>): Promise<string> {
  const { context, flags } = input;
  const { clock, signal } = context;
  const client = await context.connectTo({ server, apiKey: undefined });
  const grant = await startGrant(client, signal);
  await showGrant(grant, input);
  const until = clock.monotonic() + grant.expires_in * SECOND_MS;
  const organization = flags.organization;
  const body = { device_code: grant.device_code, ...(organization && { organization }) };
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- the provider says how often it may be asked
    await sleep(clock, grant.interval * SECOND_MS, signal);
    // oxlint-disable-next-line no-await-in-loop -- as above
    const answer = await client.raw({ method: 'POST', path: `${PATH}/key`, body, signal });
    const made = parseJson(answer.body);
    if (isKey(made)) return made.value;
    if (clock.monotonic() >= until) {
      throw new CliError({
        code: 'sso_expired',
        message: 'nobody signed in before the code expired',
        hint: 'gateway login --sso gives another',
        exit: 'auth',
      });
    }
  }
}

async function startGrant(client: Client, signal: AbortSignal): Promise<DeviceGrant> {
  const answer = await client.raw({ method: 'POST', path: `${PATH}/device`, body: {}, signal });
  const grant = parseJson(answer.body);
  if (isGrant(grant) && isTime(grant.interval) && isTime(grant.expires_in)) return grant;
  throw new CliError({
    code: 'not_a_gateway',
    message: `${client.baseUrl} does not answer like a gateway`,
    hint: 'check the address, which must not end with /v1',
  });
}

function isTime(seconds: unknown): boolean {
  return typeof seconds === 'number' && seconds > 0 && seconds < 86_400;
}

async function showGrant(grant: DeviceGrant, { context, flags }: InputOf<'login'>): Promise<void> {
  const { io, format } = context;
  const href = grant.verification_uri_complete ?? grant.verification_uri;
  // An address of another kind could start any program.
  const isWeb = /^https?:\/\//.test(href);
  const mayOpen = isWeb && !flags['no-browser'] && format === 'text' && io.stdin.isTTY === true;
  const host = { platform: process.platform, env: io.env, spawn };
  const opened = mayOpen && (await openBrowser(href, host));
  // A sign-in is impossible without it, so that --quiet does not hide it.
  io.stderr.write(
    `${opened ? 'sign in in the browser that opens, or' : 'sign in'} at ${href} with the code ${grant.user_code}\n`,
  );
}
