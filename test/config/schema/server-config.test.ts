import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { SecretRef } from '../../../src/config/objects/references.ts';
import { resolveServerConfig, serverSettings } from '../../../src/config/schema/server-config.ts';
import { parseSize } from '../../../src/config/source/size.ts';
import { verifies } from '../../requirements.ts';
import { memoryFiles } from '../memory-files.ts';
import { BODY_VALUES, RESOURCE_VALUES } from '../../support/value-bounds.ts';

function load(text: string, env: Record<string, string> = {}, flags: Record<string, unknown> = {}) {
  const files = memoryFiles({ '/etc/gw/gateway.yaml': text });
  return loadConfig({ paths: ['gw/gateway.yaml'], cwd: '/etc', env, flags, files });
}

describe('resolveServerConfig', () => {
  it('has a default for everything', () => {
    const { config, origins, diagnostics } = resolveServerConfig({ directory: '/gw', env: {} });
    expect(diagnostics).toEqual([]);
    expect(origins.size).toBe(0);
    expect(config).toEqual({
      listen: { host: '127.0.0.1', port: 8787, tls: null },
      publicUrl: null,
      dataDir: '/gw/.gateway',
      store: { driver: 'lmdb', path: '/gw/.gateway/store', options: {} },
      limits: {
        rpm: null,
        bodyBytes: 33_554_432,
        bodyMemoryBytes: null,
        answerValues: 2_000_000,
        bodyValues: BODY_VALUES,
        resourceValues: RESOURCE_VALUES,
        headerBytes: 16_384,
        unpriced: 'refuse',
        urlBytes: 8192,
        requestTimeoutMs: 30_000,
        interactionWaitMs: 60_000,
        runRetentionMs: 7 * 86_400_000,
        outputTokensBound: 16_384,
        maxConnections: 10_000,
      },
      retention: { events: null, records: null, runs: null, audit: null, results: null },
      timeouts: { firstContent: 120_000, idle: 120_000, total: 600_000 },
      drainMs: 30_000,
      drainDelayMs: 0,
      drainIdleMs: 1_000,
      ledger: 'auto',
      ledgerSync: null,
      log: { level: 'info', format: 'text', content: false },
      secrets: {
        masterKey: undefined,
        previousKeys: [],
        masterKeyFile: '/gw/.gateway/master.key',
        exec: [],
      },
      cors: { origins: [] },
      allowedHosts: [],
      metrics: { listen: null },
      console: { enabled: null, listen: null },
      compat: { resourceXApiKey: false, modelLists: false },
      harnesses: {},
      harnessesInline: false,
      mcpServers: {},
      jwt: { issuers: [] },
      sso: null,
      outbound: { allow: [] },
      media: {
        provider: null,
        store: { driver: 'fs', path: '/gw/.gateway/media', options: {} },
        maxBytes: 64 * 1024 * 1024,
        fetchTimeoutMs: 30_000,
        linkLifetimeMs: 3_600_000,
        publicUrl: null,
      },
      alerts: { webhooks: [], chats: [], mails: {} },
      notifications: { webhooks: [] },
      usage: { labels: [], tags: [], endUsers: 'plain' },
      workers: 1,
    });
  });

  it('takes ages in days, and none below an hour', async () => {
    const ages = (text: string, env = {}) =>
      load(`version: 1\nserver: { retention: { ${text} } }`, env);
    const { config } = await ages('events: 90d, records: 1h', { GATEWAY_RETENTION_RUNS: '7d' });
    expect(config?.server.retention).toEqual({
      events: 90 * 86_400_000,
      records: 3_600_000,
      audit: null,
      runs: 7 * 86_400_000,
      results: null,
    });
    expect((await ages('runs: 59m, results: 0')).diagnostics).toMatchObject([
      { path: 'server.retention.runs', message: expect.stringContaining('at least 1h') },
      { path: 'server.retention.results', message: expect.stringContaining('at least 1h') },
    ]);
  });

  it('takes programs of the operator, with times and secrets by reference', async () => {
    const { config } = await load(
      [
        'version: 1',
        'server:',
        '  harnesses:',
        '    coder: { command: coder, env: { TOKEN: "${secret:env:TOKEN}", PLAIN: x } }',
        '  mcp_servers:',
        '    files: { command: mcp-files, args: [--root, /srv] }',
      ].join('\n'),
    );
    expect(config?.server.harnesses['coder']).toEqual({
      command: 'coder',
      args: [],
      env: { TOKEN: expect.any(SecretRef), PLAIN: 'x' },
      protocol: 'acp',
      timeouts: { start: 30_000, turn: 3_600_000, stop: 5_000 },
    });
    expect(config?.server.mcpServers).toEqual({
      files: { command: 'mcp-files', args: ['--root', '/srv'], env: {} },
    });
  });

  it('takes chat bots of the operator by the beginning of their URL', async () => {
    const { config } = await load(
      [
        'version: 1',
        'server:',
        '  notifications:',
        '    webhooks:',
        '      chat: { url: "https://chat.internal/hooks", format: slack }',
        '      tests: { url: "http://127.0.0.1:9000", format: feishu, success: status }',
      ].join('\n'),
    );
    expect(config?.server.notifications.webhooks).toEqual([
      { name: 'chat', url: 'https://chat.internal/hooks', format: 'slack', success: 'provider' },
      { name: 'tests', url: 'http://127.0.0.1:9000', format: 'feishu', success: 'status' },
    ]);
    const bad = ['ftp://x', 'https://u:p@x/', 'https://x/?a', 'https://x/#a', 'http://[/'];
    for (const url of bad) {
      const bot = `{ url: "${url}", format: slack }`;
      const text = `version: 1\nserver: { notifications: { webhooks: { a: ${bot} } } }`;
      expect((await load(text)).diagnostics, url).toEqual([
        expect.objectContaining({ path: 'server.notifications.webhooks.a.url', severity: 'error' }),
      ]);
    }
  });

  it(
    verifies(
      'config.precedence',
      'lets flags win over GATEWAY_* variables, those over the file, and the file over defaults',
    ),
    async () => {
      const { config } = await load(
        'version: 1\nserver:\n  listen: { host: 10.0.0.1, port: 1 }\n  workers: 2\n  drain: 5s\n',
        { GATEWAY_PORT: '2', GATEWAY_WORKERS: '3', GATEWAY_LOG_CONTENT: 'true' },
        { 'listen.port': 4 },
      );
      expect(config?.server).toMatchObject({
        listen: { host: '10.0.0.1', port: 4, tls: null },
        workers: 3,
        drainMs: 5000,
        log: { content: true, level: 'info' },
      });
      expect(Object.fromEntries(config?.origins ?? [])).toEqual({
        'listen.host': 'file',
        'listen.port': 'flag',
        workers: 'env',
        drain: 'file',
        'log.content': 'env',
      });
    },
  );

  it('starts relative paths at the file and reads lists and secrets from variables', async () => {
    const { config } = await load('version: 1\nserver: {data_dir: ../var}\n', {
      GATEWAY_CORS_ORIGINS: 'https://a.example, https://b.example',
      GATEWAY_MASTER_KEY: 'hex',
      GATEWAY_METRICS_LISTEN_PORT: '9090',
    });
    expect(config?.server).toMatchObject({
      dataDir: '/etc/var',
      store: { path: '/etc/var/store' },
      cors: { origins: ['https://a.example', 'https://b.example'] },
      secrets: { masterKey: new SecretRef('env', 'GATEWAY_MASTER_KEY', '') },
      metrics: { listen: { host: '127.0.0.1', port: 9090 } },
    });
    expect(JSON.stringify(config)).not.toContain('hex');
  });

  it('names the variable or flag of a bad value', async () => {
    const { diagnostics } = await load(
      'version: 1\n',
      { GATEWAY_PORT: 'http', GATEWAY_LEDGER: 'never' },
      { 'limits.body': 'much' },
    );
    expect(diagnostics.map(({ file, path, message }) => `${file}: ${path}: ${message}`)).toEqual([
      expect.stringMatching(/^GATEWAY_LEDGER: server\.ledger: expected one of /),
      'GATEWAY_PORT: server.listen.port: expected number, received string',
      'flag limits.body: server.limits.body: expected a size such as 32MiB or a number of bytes',
    ]);
  });

  it('takes the three points at which the ledger counts as kept, and says what they are', async () => {
    for (const value of ['process', 'group', 'call']) {
      const { config } = await load(`version: 1\nserver: {ledger_sync: ${value}}\n`);
      expect(config?.server.ledgerSync).toBe(value);
    }
    const { diagnostics } = await load('version: 1\nserver: {ledger_sync: groups}\n');
    expect(diagnostics).toEqual([
      expect.objectContaining({
        path: 'server.ledger_sync',
        line: 2,
        message: expect.stringMatching(/process.*group.*call/),
      }),
    ]);
  });

  it('gives every setting one variable', () => {
    const variables = serverSettings().map(({ env }) => env);
    expect(new Set(variables).size).toBe(variables.length);
    expect(variables).toContain('GATEWAY_HOST');
    expect(variables).toContain('GATEWAY_LIMITS_REQUEST_TIMEOUT');
    expect(serverSettings().every(({ description }) => description !== '')).toBe(true);
  });
});

describe('parseSize', () => {
  it.each([
    ['32MiB', 33_554_432],
    ['1.5 KiB', 1536],
    ['64KB', 64_000],
    ['7B', 7],
    [12, 12],
    ['12', undefined],
    ['1 furlong', undefined],
    [-1, undefined],
    [1.5, undefined],
    ['99999999GiB', undefined],
  ])('reads %j', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });
});
