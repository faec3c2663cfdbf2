import { describe, expect, it } from 'vitest';
import { SecretRef } from '../../../src/config/objects/references.ts';
import type { ServerConfig } from '../../../src/config/schema/server-config.ts';
import {
  resolveMails,
  resolvePrograms,
  resolveSso,
} from '../../../src/server/compose/resolve-programs.ts';

const KEY = new SecretRef('env', 'KEY', '.');
const resolve = async ({ name }: SecretRef): Promise<string> => `value of ${name}`;
const refuse = (): Promise<string> => Promise.reject(new Error('no such secret'));

const PROGRAM = { command: 'run', args: ['-x'], env: { PLAIN: 'text', TOKEN: KEY } };

function programs(): Pick<ServerConfig, 'harnesses' | 'mcpServers'> {
  return { harnesses: { coder: PROGRAM }, mcpServers: { files: PROGRAM } } as unknown as Pick<
    ServerConfig,
    'harnesses' | 'mcpServers'
  >;
}

describe('programs', () => {
  it('are ready with the values of their secrets, which are known as such', async () => {
    const ready = {
      command: 'run',
      args: ['-x'],
      env: { PLAIN: 'text', TOKEN: 'value of KEY' },
      secrets: ['value of KEY'],
    };
    const { harnesses, mcpServers } = await resolvePrograms(programs(), resolve);
    expect([...harnesses]).toEqual([['coder', ready]]);
    expect([...mcpServers]).toEqual([['files', ready]]);
  });

  it('are not ready without a secret', async () => {
    await expect(resolvePrograms(programs(), refuse)).rejects.toThrow('no such secret');
  });
});

describe('mails', () => {
  const SMTP = { host: 'smtp.test', tls: 'starttls' };
  const mails = (smtp: object): Pick<ServerConfig, 'alerts'> =>
    ({
      alerts: { mails: { ops: { to: ['a@a.test'], from: 'b@b.test', smtp } } },
    }) as unknown as Pick<ServerConfig, 'alerts'>;
  const ready = { name: 'ops', to: ['a@a.test'], from: 'b@b.test' };

  it('are sent by a user with the password itself', async () => {
    const auth = { user: 'u', password: 'value of KEY' };
    const found = await resolveMails(mails({ ...SMTP, user: 'u', password: KEY }), resolve);
    expect(found).toEqual([{ ...ready, smtp: { ...SMTP, auth } }]);
  });

  it.each([{}, { user: 'u' }, { password: KEY }])('are sent by nobody with %j', async (login) => {
    const found = await resolveMails(mails({ ...SMTP, ...login }), resolve);
    expect(found).toEqual([{ ...ready, smtp: SMTP }]);
  });

  it('are not sent without a password that is named', async () => {
    const asked = resolveMails(mails({ ...SMTP, user: 'u', password: KEY }), refuse);
    await expect(asked).rejects.toThrow('no such secret');
  });
});

describe('single sign-on', () => {
  const sso = (given: object | null): Pick<ServerConfig, 'sso'> =>
    ({ sso: given }) as unknown as Pick<ServerConfig, 'sso'>;

  it('is there where it is set, with the secret of its client', async () => {
    expect(await resolveSso(sso(null), resolve)).toBeUndefined();
    expect(await resolveSso(sso({ issuer: 'i', client_secret: KEY }), resolve)).toEqual({
      issuer: 'i',
      clientSecret: 'value of KEY',
    });
    expect(await resolveSso(sso({ issuer: 'i' }), refuse)).toEqual({
      issuer: 'i',
      clientSecret: undefined,
    });
  });
});
