// `npm pack` and `npm publish` call this: what package-lock.json pins for production becomes the
// npm-shrinkwrap.json of the package, so that who installs it gets the very packages that were tested.
// `--remove` takes it away again: in a checkout npm would prefer it to the lock.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const place = (name) => new URL(`../${name}`, import.meta.url);
const SHRINKWRAP = place('npm-shrinkwrap.json');

if (process.argv.includes('--remove')) rmSync(SHRINKWRAP, { force: true });
else writeFileSync(SHRINKWRAP, `${JSON.stringify(shrinkwrap(), undefined, 2)}\n`);

function shrinkwrap() {
  const { name, version, lockfileVersion, packages } = JSON.parse(
    readFileSync(place('package-lock.json'), 'utf8'),
  );
  const { '': root, ...installed } = packages;
  const product = without(root, 'devDependencies');
  const pinned = Object.entries(installed)
    .filter(([, { dev, devOptional }]) => !dev && !devOptional)
    .filter(([path, entry]) => isVerified(path, entry))
    .map(([path, entry]) => [path, without(entry, 'funding', 'resolved')]);
  const all = Object.fromEntries([['', product], ...pinned]);
  return { name, version, lockfileVersion, requires: true, packages: all };
}

function without(entry, ...names) {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)));
}

/**
 * A package without a hash would be installed unseen, unless it comes inside another one that has a
 * hash. Prebuilt parts of other platforms may be missing.
 */
function isVerified(path, { integrity, inBundle, optional }) {
  if (integrity || inBundle) return true;
  if (!optional) throw new Error(`package-lock.json has no integrity for ${path}`);
  return false;
}
