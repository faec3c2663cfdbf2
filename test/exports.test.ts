import { describe, expect, it } from 'vitest';
import * as api from '../src/index.ts';

describe('the package', () => {
  it('exports what was published, by name', () => {
    expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
      [
        "ClientError",
        "StoreError",
        "createClient",
        "defineProvider",
        "formatDiagnostics",
        "loadConfig",
        "openStore",
        "startMockServer",
        "systemClock",
      ]
    `);
    expect(Object.hasOwn(api, 'default')).toBe(false);
  });

  it('calls a server with what it exports alone', async () => {
    const mock = await api.startMockServer();
    try {
      const client = api.createClient({ baseUrl: mock.url, clock: api.systemClock });
      const { text } = await client.chat.create({
        model: 'echo',
        messages: [{ role: 'user', content: 'hello' }],
      });
      expect(text).toBe('You said: hello');
    } finally {
      await mock.close();
    }
  });

  it('checks a configuration with what it exports alone', async () => {
    const { config, diagnostics } = await api.loadConfig({
      paths: ['-'],
      stdin: 'version: 1\nmodelz: []\n',
      env: {},
      cwd: '.',
    });
    expect(config).toBeUndefined();
    expect(api.formatDiagnostics(diagnostics, 'text')).toContain('modelz');
  });
});
