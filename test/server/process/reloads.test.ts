import { beforeEach, describe, expect, it } from 'vitest';
import type { GatewayConfig } from '../../../src/config/read/load-config.ts';
import type { ServerConfig } from '../../../src/config/schema/server-config.ts';
import type { Diagnostic } from '../../../src/config/source/diagnostic.ts';
import type { Log } from '../../../src/core/log.ts';
import type { Gateway } from '../../../src/server/compose/open-gateway.ts';
import { createReloads, fixedChanges } from '../../../src/server/process/reloads.ts';
import type { Reloads } from '../../../src/server/process/reloads.ts';
import { verifies } from '../../requirements.ts';

const SERVER = {
  listen: { host: '127.0.0.1', port: 8787, tls: null },
  dataDir: '/data',
  store: { driver: 'lmdb', path: '/data/store', options: {} },
  secrets: { masterKey: undefined, previousKeys: [], masterKeyFile: '/data/master.key' },
  metrics: { listen: null },
  console: { enabled: null, listen: null },
  workers: 2,
  drainMs: 1_000,
} as unknown as ServerConfig;

const serverOf = (more: object = {}): ServerConfig => ({ ...SERVER, ...more });

describe('the settings that only a stop and a start can change', () => {
  it.each([
    [{}, []],
    [{ drainMs: 2_000 }, []],
    [{ store: { ...SERVER.store } }, []],
    [{ workers: 3 }, []],
    [{ workers: 1 }, ['server.workers: 1']],
    [{ listen: { ...SERVER.listen, port: 1 } }, ['server.listen']],
    [{ dataDir: '/other' }, ['server.data_dir']],
    [{ store: { ...SERVER.store, options: { a: 1 } } }, ['server.store']],
    [{ secrets: { ...SERVER.secrets, masterKeyFile: '/a' } }, ['server.secrets']],
    [{ metrics: { listen: { host: 'a', port: 1 } } }, ['server.metrics']],
    [{ console: { enabled: false, listen: null } }, ['server.console']],
    [
      { workers: 1, dataDir: '/other', listen: null },
      ['server.listen', 'server.data_dir', 'server.workers: 1'],
    ],
  ])('of %j are %j', (changes, names) => {
    expect(fixedChanges(SERVER, serverOf(changes))).toEqual(names);
  });

  it('are not the number of workers where one process serves', () => {
    expect(fixedChanges(serverOf({ workers: 1 }), serverOf({ workers: 1 }))).toEqual([]);
    expect(fixedChanges(serverOf({ workers: 1 }), serverOf({ workers: 2 }))).toEqual([]);
  });
});

describe('a configuration that is read again', () => {
  let loaded: GatewayConfig | undefined;
  let loadFault: Error | undefined;
  let problems: Diagnostic[];
  /** Findings of the load. */
  let found: Diagnostic[];
  let converged: object;
  let told: (readonly Diagnostic[])[];
  let lines: { level: string; message: string; fields: unknown }[];
  let renewed: number;
  let replaced: GatewayConfig[];
  let replaceFault: unknown;
  let condition: Gateway['condition'];
  let toldWorkers: (string | null)[];

  const configOf = (more: object = {}): GatewayConfig =>
    ({ server: serverOf(more), files: [], desired: { objects: [] } }) as unknown as GatewayConfig;
  const problem = (severity: Diagnostic['severity']): Diagnostic => ({
    file: 'gateway.yaml',
    line: 1,
    column: 1,
    path: '',
    severity,
    message: 'm',
  });

  beforeEach(() => {
    loaded = configOf();
    loadFault = undefined;
    problems = [];
    found = [];
    converged = {};
    told = [];
    lines = [];
    renewed = 0;
    replaced = [];
    replaceFault = undefined;
    toldWorkers = [];
    condition = { draining: false, reloadError: 'of an earlier one' };
  });

  function open({ isAlone = false } = {}): Reloads {
    const line = (level: string) => (message: string, fields?: unknown) =>
      void lines.push({ level, message, fields });
    const log = { info: line('info'), warn: line('warn'), error: line('error') } as unknown as Log;
    const changeAtOnce = async () => ({ diagnostics: problems, ...converged });
    return createReloads({ condition, changeAtOnce } as unknown as Gateway, configOf(), {
      async load() {
        if (loadFault) throw loadFault;
        return { config: loaded, diagnostics: found };
      },
      tell: (list) => void told.push(list),
      log,
      workers: isAlone
        ? undefined
        : {
            run: async () => 0,
            async replace(settings) {
              if (replaceFault !== undefined) throw replaceFault;
              replaced.push(settings as GatewayConfig);
            },
            renew: () => void renewed++,
            tellReload: (error) => void toldWorkers.push(error),
          },
    });
  }
  const messages = (level: string): string[] =>
    lines.filter((one) => one.level === level).map(({ message }) => message);

  it('is served from then on, and its problems are told', async () => {
    problems = [problem('warning')];
    expect(await open().reload()).toMatchObject({ error: null });
    expect(told).toEqual([problems]);
    expect(condition.reloadError).toBeNull();
    expect(toldWorkers).toEqual([null]);
    expect(lines).toEqual([
      { level: 'info', message: 'configuration reloaded', fields: undefined },
    ]);
    expect(renewed).toBe(1);
    expect(replaced).toEqual([]);
  });

  it.each([
    ['is invalid', () => (loaded = undefined), 'the configuration is invalid'],
    [
      'was applied in part',
      () => (problems = [problem('warning'), problem('error')]),
      'not everything could be applied',
    ],
  ])('%s: the former one serves on', async (_what, spoil, error) => {
    spoil();
    expect(await open().reload()).toMatchObject({ error });
    expect(condition.reloadError).toBe(error);
    expect(toldWorkers).toEqual([error]);
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'the configuration was not reloaded; the former one serves on',
        fields: { reason: error },
      },
    ]);
  });

  it('tells the log alone why it could not be applied', async () => {
    loadFault = new Error('/etc/hidden is gone');
    expect(await open().reload()).toMatchObject({
      error: 'the configuration could not be applied',
    });
    expect(condition.reloadError).toBe('the configuration could not be applied');
    expect(lines).toMatchObject([{ level: 'error', fields: { reason: '/etc/hidden is gone' } }]);
  });

  it.each([
    [false, 'restart of the workers'],
    [true, 'start'],
  ])('tells what takes effect later, alone: %s', async (isAlone, when) => {
    loaded = configOf({ drainMs: 2_000 });
    expect(await open({ isAlone }).reload()).toMatchObject({ error: null, later: ['server'] });
    expect(messages('warn')).toEqual([
      `changes of the server section take effect at the next ${when}`,
    ]);
  });

  it(
    verifies('process.status', 'a reload tells its sender what changed, and what stays'),
    async () => {
      const one = { kind: 'model', identity: 'm/one' };
      converged = {
        plan: {
          actions: [{ ...one, action: 'update', changes: [{ path: 'display_name' }] }],
          conflicts: [one],
          ambiguous: [],
          lost: [],
          fixed: [],
        },
        report: { applied: [{ ...one, action: 'update' }] },
      };
      problems = [problem('warning')];
      loaded = configOf({ dataDir: '/other' });
      expect(await open().reload()).toEqual({
        error: null,
        problems: ['gateway.yaml:1:1: warning: m'],
        changes: [{ ...one, action: 'update', paths: ['display_name'] }],
        left: 1,
        later: ['server.data_dir'],
      });
      loaded = undefined;
      found = [problem('error')];
      expect(await open().reload()).toEqual({
        error: 'the configuration is invalid',
        isInvalid: true,
        problems: ['gateway.yaml:1:1: error: m'],
      });
    },
  );

  it('tells nothing of later where it is not served', async () => {
    loaded = configOf({ drainMs: 2_000 });
    problems = [problem('error')];
    await open().reload();
    expect(messages('warn')).toEqual([]);
  });

  describe('with a restart of the workers', () => {
    it('has new ones in their place', async () => {
      loaded = configOf({ drainMs: 2_000, workers: 3 });
      const reloads = open();
      expect(await reloads.restart()).toMatchObject({ error: null });
      expect(replaced).toEqual([loaded]);
      expect(lines.at(-1)).toEqual({
        level: 'info',
        message: 'workers replaced',
        fields: { workers: 3 },
      });
      await reloads.reload();
      expect(messages('warn')).toEqual([]);
    });

    it('replaces nothing where the configuration is not served', async () => {
      loaded = undefined;
      expect(await open().restart()).toMatchObject({ error: 'the configuration is invalid' });
      expect(replaced).toEqual([]);
      expect(messages('error')).toHaveLength(1);
    });

    it('replaces nothing where one process serves', async () => {
      const error = 'one process alone cannot be replaced while it serves';
      expect(await open({ isAlone: true }).restart()).toMatchObject({ error });
      expect(lines.at(-1)).toEqual({
        level: 'error',
        message: 'the workers were not replaced; the former ones serve on',
        fields: { reason: error },
      });
    });

    it.each([
      [{ dataDir: '/other' }, 'server.data_dir'],
      [{ dataDir: '/other', workers: 1 }, 'server.data_dir, server.workers: 1'],
    ])('replaces nothing where a fixed setting changes: %j', async (changes, names) => {
      loaded = configOf(changes);
      expect(await open().restart()).toMatchObject({
        error: `only a stop and a start can change ${names}`,
      });
      expect(replaced).toEqual([]);
    });

    it('leaves the former ones where the new ones do not come up', async () => {
      loaded = configOf({ drainMs: 2_000 });
      replaceFault = new Error('no worker listens');
      const reloads = open();
      expect(await reloads.restart()).toMatchObject({ error: 'no worker listens' });
      expect(messages('info')).toEqual(['configuration reloaded']);
      await reloads.reload();
      expect(messages('warn')).toHaveLength(1);
    });
  });
});
