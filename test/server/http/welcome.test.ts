import { describe, expect, it } from 'vitest';
import { clientKeyNote, welcome, welcomeLines } from '../../../src/server/http/welcome.ts';
import type { FirstStart } from '../../../src/resources/bootstrap.ts';

const ADMIN = {
  file: '/data/admin-key',
  isKept: true,
  isFound: true,
  recovery: '`gateway store admin-key -c pg.yaml`',
};
const FACTS = { url: 'http://h:1', admin: ADMIN, made: undefined, model: 'm' };
const MADE = { clientKey: 'sk-client' } as FirstStart;
const KEPT = {} as FirstStart;

describe('the welcome', () => {
  it('names the address and the file of the admin key, and shows no key at a later start', () => {
    expect(welcome(FACTS).split('\n')).toEqual([
      'gateway listening on http://h:1',
      '',
      expect.stringMatching(/^ {2}admin key {3}kept in \/data\/admin-key /),
      expect.stringContaining('client keys were shown when they were made'),
      '',
      '',
    ]);
  });

  it('names no file of the admin key that is not there, and says how commands find one', () => {
    const none = welcome({ ...FACTS, admin: { ...ADMIN, isKept: false } });
    expect(none).toContain(
      '  admin key   none in /data; `gateway store admin-key -c pg.yaml` makes',
    );
    expect(none).not.toContain('/data/admin-key');
    const away = { ...FACTS, consoleUrl: 'http://c', admin: { ...ADMIN, isFound: false } };
    const apart = welcome(away);
    expect(apart).not.toContain('by itself');
    expect(apart).toContain('\n  console     http://c\n');
    expect(apart).toContain(
      'export GATEWAY_SERVER=http://h:1 GATEWAY_API_KEY_FILE=/data/admin-key\n',
    );
  });

  it('has no key and no text to paste among the lines of a log, and ends with the address', () => {
    const clientKeyFile = '/data/client.key';
    const lines = (facts: object) => welcomeLines({ ...FACTS, clientKeyFile, ...facts });
    expect(welcome({ ...FACTS, clientKeyFile })).toContain(
      'client key  kept in /data/client.key\n',
    );
    expect(lines({})).toEqual(['gateway listening on http://h:1']);
    expect(lines({ consoleUrl: 'http://c' })[0]).toBe('the console is at http://c');
    expect(lines({ made: MADE })).toEqual([
      'the admin key is in /data/admin-key',
      'the first client key is in /data/client.key',
      'gateway listening on http://h:1',
    ]);
    expect(lines({ admin: { ...ADMIN, isKept: false } })[0]).toContain('no admin key in /data; `g');
  });

  it('names the public address and the console where they are', () => {
    const text = welcome({ ...FACTS, publicUrl: 'https://p', consoleUrl: 'http://h:1/console' });
    expect(text).toContain('\n  public      https://p\n');
    expect(text).toContain('\n  console     http://h:1/console (');
    expect(welcome({ ...FACTS, publicUrl: null })).not.toContain('public ');
  });

  it('shows the client key of a first start with something to paste', () => {
    const text = welcome({ ...FACTS, made: MADE });
    expect(text).toContain('\n  client key  sk-client\n');
    expect(text).toContain('curl http://h:1/v1/chat/completions');
    expect(text).toContain("'authorization: Bearer sk-client'");
    expect(text).toContain('"model":"m"');
    expect(text).not.toContain('were shown when they were made');
    expect(text.endsWith('\n\n')).toBe(true);
  });

  it.each([
    ['a model', { made: MADE, model: undefined }],
    ['a client key', { made: KEPT, model: 'm' }],
  ])('has nothing to paste without %s', (_what, facts) => {
    expect(welcome({ ...FACTS, ...facts })).not.toContain('curl');
  });

  it('tells where the client keys are declared', () => {
    expect(clientKeyNote(KEPT)).toBe('  client keys are those that the configuration declares\n');
    expect(clientKeyNote(MADE)).toMatch(/^ {2}client key {2}sk-client\n +shown only now.*\n$/);
  });
});
