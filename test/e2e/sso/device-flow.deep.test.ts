import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runCli } from '../../cli/run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';
import { startGateway } from '../../support/gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { CLIENT_ID, CLIENT_SECRET, signInAs, startIdentityProvider } from './identity-provider.ts';
import type { IdentityProvider } from './identity-provider.ts';

const ROLES = [
  { group: 'leads', organization: 'team-a', role: 'operator' },
  { group: 'books', organization: 'team-a', role: 'billing' },
  { group: 'books', organization: 'team-b', role: 'viewer' },
];

describe('sign-in of a person by the device flow', { timeout: 120_000 }, () => {
  let provider: IdentityProvider;
  let gateway: TestGateway;
  let directory: string;

  const start = (
    roles: readonly object[],
    options: StartGatewayOptions = {},
  ): Promise<TestGateway> =>
    startGateway(
      {
        server: {
          sso: {
            issuer: provider.issuer,
            client_id: CLIENT_ID,
            client_secret: '${secret:env:SSO_SECRET}',
            lifetime: '1h',
            roles,
          },
          store: { driver: 'lmdb' },
          workers: 2,
        },
        organizations: [{ name: 'team-a' }, { name: 'team-b' }],
      },
      { directory, env: { SSO_SECRET: CLIENT_SECRET }, ...options },
    );

  beforeAll(async () => {
    provider = await startIdentityProvider({
      ada: ['leads'],
      bo: ['staff', 'books'],
      eve: ['guests', 'visitors'],
      nobody: [],
    });
    directory = await emptyDirectory();
    gateway = await start(ROLES, { binary: true });
  }, 120_000);
  afterAll(async () => {
    await gateway?.stop();
    await provider?.stop();
  });

  /** Runs `gateway login --sso` while this person signs in. */
  async function login(person: string, ...more: string[]) {
    const home = await emptyDirectory();
    let said = '';
    let seen = false;
    const onStderr = (text: string): void => {
      said += text;
      const [, href] = /sign in at (\S+) with the code/.exec(said) ?? [];
      if (href === undefined || seen) return;
      seen = true;
      void signInAs(person, href);
    };
    const words = ['login', gateway.url, '--sso', '--no-browser', ...more, '-o', 'json'];
    const run = await runCli(words, { env: envOf(home), onStderr });
    return { home, ...run };
  }

  const envOf = (home: string) => ({ HOME: home, XDG_CONFIG_HOME: home });

  async function keyIn(home: string): Promise<string> {
    const file = await readFile(join(home, 'gateway', 'contexts.yaml'), 'utf8');
    return /api_key: (\S+)/.exec(file)?.[1] ?? '';
  }

  it(
    verifies(
      'sso.login',
      'gives a key with the role of the group, kept for its owner alone, which a logout ends',
    ),
    async () => {
      const { home, code, stderr } = await login('ada');
      expect(code, stderr).toBe(0);
      const { mode } = await stat(join(home, 'gateway', 'contexts.yaml'));
      expect(mode & 0o777).toBe(0o600);
      const key = await keyIn(home);
      const own = await gateway.call('GET', '/v1/account/key', { key });
      expect(own.body).toMatchObject({ role: 'operator', organization: { name: 'team-a' } });
      expect(own.body.name).toMatch(/^ada@example\.com /);
      const left = await runCli(['logout'], { env: envOf(home) });
      expect(left.code, left.stderr).toBe(0);
      const over = await gateway.call('GET', '/v1/account/key', { key });
      expect(over).toMatchObject({ status: 401, body: { error: 'API key has been revoked' } });
    },
  );

  it('takes the first mapping that fits, or that of the organization that is named', async () => {
    const first = await login('bo');
    expect(first.code, first.stderr).toBe(0);
    const own = await gateway.call('GET', '/v1/account/key', { key: await keyIn(first.home) });
    expect(own.body).toMatchObject({ role: 'billing', organization: { name: 'team-a' } });
    const second = await login('bo', '--organization', 'team-b');
    expect(second.code, second.stderr).toBe(0);
    const other = await gateway.call('GET', '/v1/account/key', { key: await keyIn(second.home) });
    expect(other.body).toMatchObject({ role: 'viewer', organization: { name: 'team-b' } });
  });

  it('refuses who has no mapped group, with the groups that were seen, and audits it', async () => {
    const { code, stderr, stdout } = await login('eve');
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('guests, visitors');
    expect(stdout + stderr).toContain('server.sso.roles');
    const none = await login('nobody');
    expect(none.stdout + none.stderr).toContain('the claim groups names no group');
    const { body } = await gateway.admin('GET', '/admin/v1/audit?action=sign_in_refused');
    expect(JSON.stringify(body)).toContain('eve@example.com');
  });

  it('tells nothing but issuer and client, and neither logs nor shows a secret', async () => {
    const { body } = await gateway.call('GET', '/v1/account/sso', { key: '' });
    expect(body).toEqual({ type: 'sso', issuer: provider.issuer, client_id: CLIENT_ID });
    expect(gateway.log()).not.toContain(CLIENT_SECRET);
    const guess = { device_code: 'made-up' };
    const answer = await gateway.call('POST', '/v1/account/sso/key', { key: '', body: guess });
    expect(answer).toMatchObject({ status: 403 });
  });

  it('gives a device code one key alone', async () => {
    const { body: grant } = await gateway.call('POST', '/v1/account/sso/device', {
      key: '',
      body: {},
    });
    const take = () =>
      gateway.call('POST', '/v1/account/sso/key', {
        key: '',
        body: { device_code: grant.device_code },
      });
    expect(await take()).toMatchObject({ status: 202, body: { type: 'sso_pending' } });
    await signInAs('ada', grant.verification_uri_complete);
    const answers = await Promise.all([take(), take(), take()]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await take()).toMatchObject({ status: 403 });
  });

  it('ends a key with the mapping that gave it', async () => {
    const { home, code, stderr } = await login('ada');
    expect(code, stderr).toBe(0);
    const key = await keyIn(home);
    await gateway.stop();
    gateway = await start(ROLES.slice(1));
    const over = await gateway.call('GET', '/v1/account/key', { key });
    expect(over).toMatchObject({ status: 401 });
  });

  it('says so when the provider is down', async () => {
    await provider.stop();
    await gateway.stop();
    gateway = await start(ROLES);
    const answer = await gateway.call('POST', '/v1/account/sso/device', { key: '', body: {} });
    expect(answer.status).toBe(502);
    expect(answer.body.error.message).toContain(provider.issuer);
  });
});
