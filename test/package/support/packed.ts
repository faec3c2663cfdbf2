import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const SOURCES =
  'bin dist docs scripts src templates test package.json package-lock.json tsconfig.build.json .npmrc .gitignore README.md LICENSE CHANGELOG.md gateway.yaml.example'.split(
    ' ',
  );

export interface Packed {
  /** The file that `npm publish` would send. */
  readonly tarball: string;
  /** It unpacked. */
  readonly content: string;
  /** Of the tarball, in bytes. */
  readonly size: number;
  /** Its files, as npm lists them. */
  readonly files: readonly { path: string; size: number; mode: number }[];
}

/** `npm pack` as it is meant to be called, in a copy of the checkout; the caller removes `directory`. */
export async function packProduct(): Promise<Packed & { directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-package-'));
  const checkout = join(directory, 'checkout');
  await mkdir(checkout);
  // Times are kept: a build that is up to date stays so.
  await execa('cp', ['-a', ...SOURCES, checkout], { cwd: ROOT });
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  const argv = ['pack', '--json', '--pack-destination', directory];
  // What is out of date is built again there: as for users, not as for tests.
  const env = { NODE_ENV: 'production' };
  const { stdout } = await execa('npm', argv, { cwd: checkout, env });
  const [{ filename, size, files }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  const tarball = join(directory, filename);
  const content = join(directory, 'content');
  await mkdir(content);
  await execa('tar', ['-xzf', tarball, '-C', content, '--strip-components=1']);
  return { directory, tarball, content, size, files };
}
