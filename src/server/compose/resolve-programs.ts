import type { MailTarget } from '../../alerts/send-mail.ts';
import { SecretRef } from '../../config/objects/references.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';
import type { HarnessProgram } from '../../runtime/harness/harness-program.ts';
import type { StdioServer } from '../../runtime/tools/mcp-transport.ts';
import type { SsoSettings } from '../sso/provider.ts';

/** The programs that the operator declared, by name, ready to be started: nothing else is ever run. */
export interface Programs {
  readonly harnesses: ReadonlyMap<string, HarnessProgram>;
  readonly mcpServers: ReadonlyMap<string, StdioServer>;
}

/** Rejects with what `resolve` rejects with, for a secret that cannot be had. */
export async function resolvePrograms(
  { harnesses, mcpServers }: Pick<ServerConfig, 'harnesses' | 'mcpServers'>,
  resolve: (reference: SecretRef) => Promise<string>,
): Promise<Programs> {
  const ready = async <T extends { env: Record<string, string | SecretRef> }>(
    programs: Readonly<Record<string, T>>,
  ): Promise<Map<string, T & { env: Record<string, string>; secrets: string[] }>> => {
    const entries = Object.entries(programs).map(async ([name, program]) => {
      const env = await resolveAll(program.env, resolve);
      const hidden = Object.keys(env).filter((one) => program.env[one] instanceof SecretRef);
      return [name, { ...program, env, secrets: hidden.map((one) => String(env[one])) }] as const;
    });
    return new Map(await Promise.all(entries));
  };
  return { harnesses: await ready(harnesses), mcpServers: await ready(mcpServers) };
}

/** Mails of alerts with their passwords. Rejects as above. */
export function resolveMails(
  { alerts }: Pick<ServerConfig, 'alerts'>,
  resolve: (reference: SecretRef) => Promise<string>,
): Promise<MailTarget[]> {
  const entries = Object.entries(alerts.mails).map(async ([name, { to, from, smtp }]) => {
    const { password, user, ...server } = smtp;
    const auth = user !== undefined && password && { user, password: await resolve(password) };
    return { name, to, from, smtp: { ...server, ...(auth && { auth }) } };
  });
  return Promise.all(entries);
}

/** Single sign-on with the secret of the client; undefined where there is none. Rejects as above. */
export async function resolveSso(
  { sso }: Pick<ServerConfig, 'sso'>,
  resolve: (reference: SecretRef) => Promise<string>,
): Promise<SsoSettings | undefined> {
  if (!sso) return undefined;
  const { client_secret: reference, ...settings } = sso;
  return { ...settings, clientSecret: reference && (await resolve(reference)) };
}

/** Everything of the server that reaches outside with a secret. Rejects as above. */
export async function resolveOutside(
  server: Pick<ServerConfig, 'harnesses' | 'mcpServers' | 'alerts' | 'sso'>,
  resolve: (reference: SecretRef) => Promise<string>,
) {
  return {
    programs: await resolvePrograms(server, resolve),
    mails: await resolveMails(server, resolve),
    ssoSettings: await resolveSso(server, resolve),
  };
}

async function resolveAll(
  values: Readonly<Record<string, string | SecretRef>>,
  resolve: (reference: SecretRef) => Promise<string>,
): Promise<Record<string, string>> {
  const entries = Object.entries(values).map(
    async ([name, value]) =>
      [name, value instanceof SecretRef ? await resolve(value) : value] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}
