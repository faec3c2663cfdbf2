import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { bootstrap } from '../../../src/resources/bootstrap.ts';
import { convergeConfig } from '../../../src/server/process/converge-config.ts';
import { memoryFiles } from '../../config/memory-files.ts';
import { verifies } from '../../requirements.ts';
import { makeResources } from '../../resources/make-resources.ts';

it(
  verifies(
    'keys.without-value',
    'says once which keys were made without a value, and what to type',
  ),
  async () => {
    const { repository, hasher } = makeResources();
    await bootstrap(repository);
    const text = [
      'version: 1',
      'keys:',
      '  - { name: own, value: "${secret:env:OWN}" }',
      '  - { name: ci }',
      '  - { name: books, role: billing }',
    ].join('\n');
    const { config } = await loadConfig({
      paths: ['gateway.yaml'],
      env: { OWN: 'sk-own-0123456789abcdef' },
      cwd: '/gw',
      files: memoryFiles({ '/gw/gateway.yaml': text }),
    });
    if (!config) throw new Error('the file is valid');
    const gateway = { repository, hasher, changeAtOnce: <T>(act: () => Promise<T>) => act() };
    const told = async () =>
      formatDiagnostics((await convergeConfig(gateway, config)).diagnostics, 'text');
    expect(await told()).toBe(
      [
        'gateway.yaml:5:5: warning: keys: made without a declared value, and no value is shown: books, ci',
        '  hint: `gateway keys rotate books` prints a new value; or declare value: ${secret:env:NAME}',
      ].join('\n'),
    );
    expect(await told()).toBe('');
  },
);
