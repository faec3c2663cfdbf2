import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { dump, makeResources } from '../../resources/make-resources.ts';
import { storePlaces } from '../../store/support/store-places.ts';
import { runCli } from '../../cli/run-cli.ts';
import { adminEnv } from '../../support/binary.ts';
import { createAuthority } from '../../support/certificates.ts';
import type { Issued } from '../../support/certificates.ts';
import { startDemandingProvider } from '../../support/stage/demanding-provider.ts';
import type { DemandingProvider } from '../../support/stage/demanding-provider.ts';
import { expectNowhere } from '../../support/find-secrets.ts';
import { eventually, newDirectory, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const ours = createAuthority('Inside');
const theirs = createAuthority('Elsewhere');
const client = ours.issue('gateway.corp.example');
const renewed = ours.issue('renewed.corp.example');
const foreign = theirs.issue('stranger.example');
const server_name = 'models.corp.example';
const closers: (() => unknown)[] = [];
let provider: DemandingProvider;

beforeEach(async () => {
  provider = await startDemandingProvider(ours);
  closers.push(() => provider.close());
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => {
  ours.dispose();
  theirs.dispose();
});

/** The middle of a private key, which stands nowhere else. */
const bodyOf = ({ key }: Issued): string => key.split('\n')[1]!;

const declared = (tls: object | null, name = 'inside'): object => ({
  name,
  type: 'custom',
  base_url: provider.url,
  auth: { type: 'none' },
  tls,
});
const models = [{ name: 'm/inside', routes: [{ provider: 'inside', upstream_model: 'm' }] }];

/** Cause of the first attempt of a request. */
async function causeIn(gateway: TestGateway, id: string | null): Promise<string> {
  return eventually(async () => {
    const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
    return body.attempts?.[0]?.cause as string | undefined;
  });
}

const REFERENCES = {
  ca: '${file:ca.pem}',
  cert: '${file:client.pem}',
  key: '${secret:file:client.key}',
  server_name,
};

async function writeFiles(directory: string, issued: Issued): Promise<void> {
  await writeFile(join(directory, 'ca.pem'), ours.ca);
  await writeFile(join(directory, 'client.pem'), issued.cert);
  await writeFile(join(directory, 'client.key'), issued.key);
}

describe('a provider that demands a client certificate', () => {
  it(
    verifies(
      'net.provider-tls',
      'is shown that of the files, and a renewed one after a reload; nothing else is served, and the cause is told',
    ),
    async () => {
      const directory = await newDirectory();
      await writeFiles(directory, client);
      const config = { providers: [declared(REFERENCES)], models };
      const gateway = await startGateway(config, { binary: true, directory });
      closers.push(() => gateway.stop());
      expect((await gateway.chat('m/inside')).status).toBe(200);
      await writeFiles(directory, renewed);
      gateway.child?.kill('SIGHUP');
      await eventually(async () => {
        expect((await gateway.chat('m/inside')).status).toBe(200);
        return provider.shown.at(-1) === 'renewed.corp.example';
      });
      expect(provider.shown[0]).toBe('gateway.corp.example');

      const served = provider.shown.length;
      const set = async (tls: object): Promise<string> => {
        const changed = await gateway.admin('PATCH', '/admin/v1/providers/inside', { tls });
        expect(changed.status, JSON.stringify(changed.body)).toBe(200);
        const { status, headers } = await gateway.chat('m/inside');
        expect(status).toBeGreaterThanOrEqual(500);
        return causeIn(gateway, headers.get('x-request-id'));
      };
      expect(await set({ ca: ours.ca, server_name })).toContain('asks for a client certificate');
      expect(await set({ ca: ours.ca, server_name, ...foreign })).toContain(
        'refuses the client certificate',
      );
      const other = { ...client, ca: ours.ca, server_name: 'other.corp.example' };
      expect(await set(other)).toContain('ERR_TLS_CERT_ALTNAME_INVALID, certificate of');
      expect(await set({ ...client, ca: theirs.ca, server_name })).toContain(
        'SELF_SIGNED_CERT_IN_CHAIN',
      );
      expect(provider.shown).toHaveLength(served);
      const all = { client: bodyOf(client), renewed: bodyOf(renewed), foreign: bodyOf(foreign) };
      const { body: audit } = await gateway.admin('GET', '/admin/v1/audit?limit=100');
      expect(JSON.stringify(audit)).toContain('tls.key');
      expectNowhere(JSON.stringify(audit) + gateway.log(), all, 'audit and log');
      const { body: view } = await gateway.admin('GET', '/admin/v1/providers/inside');
      expect(view).toMatchObject({ tls_key_configured: true, tls: { cert: client.cert } });
      expect(view.tls).not.toHaveProperty('key');
      expectNowhere(JSON.stringify(view), all, 'the view');
    },
    60_000,
  );

  it('keeps its key where only other settings are sent, and loses it with its certificate', async () => {
    const gateway = await startGateway({ providers: [declared(null)], models });
    closers.push(() => gateway.stop());
    const patch = async (tls: object | null): Promise<boolean> => {
      const { status, body } = await gateway.admin('PATCH', '/admin/v1/providers/inside', { tls });
      expect(status, JSON.stringify(body)).toBe(200);
      return body.tls_key_configured;
    };
    expect(await patch({ ca: ours.ca, server_name, ...client })).toBe(true);
    expect(await patch({ ca: ours.ca, server_name, cert: client.cert })).toBe(true);
    expect((await gateway.chat('m/inside')).status).toBe(200);
    expect(await patch({ ca: ours.ca, server_name })).toBe(false);
    expect(await patch({ ca: ours.ca, server_name, ...client })).toBe(true);
    expect(await patch(null)).toBe(false);
  });

  it('is checked by doctor as calls reach it, with the cause and what to do', async () => {
    const cwd = await newDirectory();
    const check = async (issued: Issued | undefined): Promise<{ state: string }> => {
      await writeFiles(cwd, issued ?? client);
      const { cert: _cert, key: _key, ...without } = REFERENCES;
      const file = { version: 1, providers: [declared(issued ? REFERENCES : without)] };
      await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify(file));
      const run = await runCli(['doctor', '--json'], { cwd, env: { HOME: cwd } });
      expectNowhere(run.stdout + run.stderr, { key: bodyOf(issued ?? client) }, 'doctor');
      return run
        .json()
        .data.findings.find(({ name }: { name: string }) => name === 'provider inside');
    };
    expect(await check(client)).toMatchObject({ state: 'ok' });
    const hint = expect.stringContaining('tls.cert and tls.key');
    const asked = expect.stringContaining('asks for a client certificate');
    expect(await check(undefined)).toMatchObject({ state: 'bad', message: asked, hint });
    const refused = expect.stringContaining('refuses the client certificate');
    expect(await check(foreign)).toMatchObject({ state: 'bad', message: refused, hint });
    const mixed = { cert: client.cert, key: foreign.key };
    const unlike = expect.stringContaining('tls.key is not the private key of tls.cert');
    expect(await check(mixed)).toMatchObject({ state: 'bad', message: unlike });
  }, 60_000);

  it('plans no change after an apply, writes a replaced key alone, and is dumped by names', async () => {
    const gateway = await startGateway({});
    closers.push(() => gateway.stop());
    const cwd = await newDirectory();
    await writeFiles(cwd, client);
    const file = { version: 1, namespace: 'n', providers: [declared(REFERENCES)], models };
    await writeFile(join(cwd, 'apply.yaml'), JSON.stringify(file));
    const run = async (...words: string[]) => {
      const env = {
        ...adminEnv(gateway),
        HOME: cwd,
        PROVIDER_INSIDE_TLS_KEY: client.key.trimEnd(),
      };
      const done = await runCli(words, { cwd, env });
      expectNowhere(done.stdout + done.stderr, { key: bodyOf(client) }, words.join(' '));
      return done;
    };
    const plan = ['plan', '-f', 'apply.yaml', '--exit-code'];
    expect((await run(...plan)).stdout).toContain('tls.key');
    const applied = await run('apply', '-f', 'apply.yaml', '--yes');
    expect(applied.code, applied.stderr).toBe(0);
    const again = await run(...plan);
    expect(again.code, again.stdout + again.stderr).toBe(0);
    expect((await gateway.chat('m/inside', { key: gateway.clientKey })).status).toBe(200);
    const forced = await run(...plan, '--write-secret', 'provider/inside#tls.key');
    expect(forced.stdout).toContain('tls.key');
    const dumped = await run('dump');
    expect(dumped.stdout).toContain('${secret:env:PROVIDER_INSIDE_TLS_KEY}');
    await writeFile(join(cwd, 'dumped.yaml'), dumped.stdout);
    const same = await run('plan', '-f', 'dumped.yaml', '--exit-code');
    expect(same.code, same.stdout + same.stderr).toBe(0);
    const renamed = await run(
      'providers',
      'update',
      'inside',
      '--tls.server-name',
      server_name,
      '--force',
    );
    expect(renamed.code, renamed.stderr).toBe(0);
    const { body: view } = await gateway.admin('GET', '/admin/v1/providers/inside');
    expect(view.tls_key_configured).toBe(true);
  }, 60_000);
});

describe('a client certificate that cannot work', () => {
  const cases = (): [string, object, string, string][] => [
    [
      'a key of another',
      { cert: client.cert, key: foreign.key },
      'tls.key',
      'is not the private key',
    ],
    ['no PEM', { cert: 'client.pem', key: client.key }, 'tls.cert', 'must hold certificates'],
    [
      'a key that is none',
      { cert: client.cert, key: 'secret-text' },
      'tls.key',
      'must hold a private',
    ],
    [
      'a key with a passphrase',
      { cert: client.cert, key: client.key.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE') },
      'tls.key',
      'must not have a passphrase',
    ],
    ['a certificate alone', { cert: client.cert }, 'tls.key', 'needs tls.key'],
    ['a key alone', { key: client.key }, 'tls.cert', 'needs tls.cert'],
  ];

  it('is refused by the API and by validate, with path, cause and next step', async () => {
    const gateway = await startGateway({});
    closers.push(() => gateway.stop());
    const cwd = await newDirectory();
    for (const [what, tls, param, message] of cases()) {
      const answer = await gateway.admin('POST', '/admin/v1/providers', declared(tls));
      expect(answer.status, what).toBe(400);
      expect(JSON.stringify(answer.body), what).toContain(message);
      expect(answer.body.error, what).toMatchObject({ param });
      const { key } = tls as { key?: string };
      const written = key === undefined ? tls : { ...tls, key: '${secret:env:KEY}' };
      const file = { version: 1, providers: [declared(written)] };
      await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify(file));
      const env = { HOME: cwd, ...(key !== undefined && { KEY: key }) };
      const run = await runCli(['validate'], { cwd, env });
      expect(run.code, what).toBe(3);
      expect(run.stdout, what).toContain(message);
      expect(run.stdout, what).toContain(param);
      const secrets = { key: bodyOf(client), other: bodyOf(foreign), text: 'secret-text' };
      expectNowhere(JSON.stringify(answer.body) + run.stdout + run.stderr, secrets, what);
    }
    const literal = { version: 1, providers: [declared({ ...client })] };
    await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify(literal));
    const run = await runCli(['validate'], { cwd, env: { HOME: cwd } });
    expect(run.stdout).toContain('a secret must not be written in the file');
    expectNowhere(run.stdout + run.stderr, { key: bodyOf(client) }, 'validate');
  }, 60_000);
});

describe('the key of a client certificate', () => {
  const places = storePlaces();

  it.each(inTurn('stores of sealed keys', ['lmdb', 'redis', 'postgres']))(
    'is sealed in the rows of %s',
    async (driver) => {
      if (!places.drivers.includes(driver)) return;
      const config = await places.fresh(driver);
      const store = await openStore(config, { clock: makeResources().clock });
      closers.push(() => store.close());
      const { call, repository } = makeResources({ store });
      const tls = { ca: ours.ca, server_name, ...client };
      const made = await call('POST providers', { body: declared(tls) });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      expectNowhere(await dump(store), { key: bodyOf(client) }, driver);
      if (config.path !== undefined) {
        const bytes = await readFile(join(config.path, 'data.mdb'), 'latin1').catch(() => '');
        expectNowhere(bytes, { key: bodyOf(client) }, 'the file');
      }
      const definition = repository.definitionOf('provider');
      const stored = await repository.get(definition, 'inside', { organization: null });
      expect(repository.reveal(stored, 'tls.key')).toBe(client.key);
    },
  );
});
