import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { newDirectory } from './gateway.ts';

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/** An npm registry that serves exactly the packages that are installed below a folder. */
export async function startRegistry(root: string): Promise<Registry> {
  const packages = findInstalled(root);
  const directory = await newDirectory();
  const server = createServer((request, response) => {
    void answer(decodeURIComponent(request.url ?? ''), response).catch((thrown: unknown) => {
      response.writeHead(500).end(String(thrown));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  async function answer(path: string, response: ServerResponse): Promise<void> {
    const [, name = '', version] = /^\/((?:@[^/]+\/)?[^/]+?)(?:\/-\/(.+)\.tgz)?$/.exec(path) ?? [];
    const found = packages.filter((one) => one.name === name);
    if (found.length === 0) return void response.writeHead(404).end('{}');
    if (version === undefined) return void response.end(JSON.stringify(await describe(found)));
    const one = found.find((candidate) => candidate.version === version);
    response.end(one && (await pack(one)));
  }

  async function describe(found: readonly Installed[]): Promise<object> {
    const versions = await Promise.all(
      found.map(async ({ name, version, folder }) => {
        const { scripts: _scripts, ...manifest } = JSON.parse(
          await readFile(join(folder, 'package.json'), 'utf8'),
        );
        const dist = { tarball: `${url}${name}/-/${version}.tgz` };
        return [version, { ...manifest, dist }] as const;
      }),
    );
    const latest = versions[0]?.[0];
    return {
      name: found[0]?.name,
      'dist-tags': { latest },
      versions: Object.fromEntries(versions),
    };
  }

  async function pack({ name, version, folder }: Installed): Promise<Buffer> {
    const place = join(directory, encodeURIComponent(`${name}@${version}`));
    await mkdir(place, { recursive: true });
    await symlink(folder, join(place, 'package')).catch(() => undefined);
    // Read once, on this machine: the fastest level.
    const content = ['--exclude=package/node_modules', '-C', place, 'package'];
    const args = ['-I', 'gzip -1', '-chf', '-', ...content];
    const { stdout } = await execa('tar', args, { encoding: 'buffer' });
    return Buffer.from(stdout);
  }

  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Packages that the lock file says are installed. */
function findInstalled(root: string): Installed[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { name?: string; version?: string }>;
  };
  return Object.entries(packages).flatMap(([path, { name, version }]) => {
    const called = name ?? path.split('node_modules/').at(-1) ?? '';
    return path === '' || version === undefined
      ? []
      : [{ name: called, version, folder: join(root, path) }];
  });
}
