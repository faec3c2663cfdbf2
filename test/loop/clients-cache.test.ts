import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';
import { verifies } from '../requirements.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/test-clients.js', import.meta.url));
const VERSIONS = new URL('../clients/versions.json', import.meta.url);
/** An `npm` that writes what it was asked for to a log, and installs a package with its version alone. */
const NPM = `#!/usr/bin/env node
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
const words = process.argv.slice(2);
const [, name, version] = /^(.+)@(.+)$/.exec(words.at(-1));
const folder = words[words.indexOf('--prefix') + 1] + '/node_modules/' + name;
appendFileSync(process.env.LOG, name + '\\n');
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/package.json', JSON.stringify({ version }));
`;

it(
  verifies(
    'loop.clients-cache',
    'the coding tools are installed once below the cache folder of the user',
  ),
  async () => {
    const home = await emptyDirectory();
    const log = join(home, 'log');
    await writeFile(log, '');
    await writeFile(join(home, 'npm'), NPM);
    await chmod(join(home, 'npm'), 0o755);
    const env = {
      PATH: `${home}:${process.env['PATH']}`,
      XDG_CACHE_HOME: join(home, 'cache'),
      LOG: log,
    };
    const install = () =>
      promisify(execFile)(process.execPath, [SCRIPT, '--install'], { env, cwd: home });

    const { dependencies } = JSON.parse(await readFile(VERSIONS, 'utf8')) as {
      dependencies: Record<string, string>;
    };
    await install();
    const installed = await readFile(log, 'utf8');
    expect(installed.trim().split('\n').sort()).toEqual(Object.keys(dependencies).sort());

    const { stdout, stderr } = await install();
    expect(await readFile(log, 'utf8')).toBe(installed);
    expect(stdout + stderr).toBe('');
  },
);
