import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Packed } from './packed.ts';

/**
 * Installs a packed product into a new folder as a registry would have it: npm is told that the package
 * has a shrinkwrap, which of a bare tarball it does not look for. No script of any package runs.
 * Gives the folder of the product.
 */
export async function installProduct(packed: Packed, directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  await copyFile(packed.tarball, join(directory, 'product.tgz'));
  const product = JSON.parse(await readFile(join(packed.content, 'package.json'), 'utf8'));
  const { name, version, dependencies, bin } = product;
  const consumer = {
    name: 'consumer',
    version: '1.0.0',
    dependencies: { [name]: 'file:product.tgz' },
  };
  const entry = { version, resolved: 'file:product.tgz', hasShrinkwrap: true, dependencies, bin };
  const lock = {
    name: consumer.name,
    version: consumer.version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': consumer, [`node_modules/${name}`]: entry },
  };
  await writeFile(join(directory, 'package.json'), JSON.stringify(consumer));
  await writeFile(join(directory, 'package-lock.json'), JSON.stringify(lock));
  // What the checkout was installed from lies in the cache of npm, so no network is needed.
  const flags = ['--prefer-offline', '--ignore-scripts', '--omit=dev', '--engine-strict'];
  await execa('npm', ['ci', '--no-audit', '--no-fund', ...flags], { cwd: directory });
  return join(directory, 'node_modules', name);
}
