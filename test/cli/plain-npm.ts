import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

/** npm where what it installs is one folder without dependencies, at once. */
const PLAIN_NPM = `#!/bin/sh
if [ "$1" = pack ]; then
  valueOf() { sed -n 's/.*"'"$1"'": *"\\([^"]*\\)".*/\\1/p' "$2/package.json" | head -n 1; }
  name=$(valueOf name "$2")
  place="$5/node_modules/$name"
  mkdir -p "\${place%/*}" && cp -r "$2" "$place" && : > "$5/packed.tgz"
  rm -rf "$place/node_modules"
  echo '[{"name":"'"$name"'","version":"'"$(valueOf version "$2")"'","filename":"packed.tgz","integrity":"sha512-none"}]'
fi
`;

/**
 * Puts it into a new folder, for tests of what comes behind npm, which takes seconds. Gives the `PATH`
 * on which it is found, with this Node.js.
 */
export async function putPlainNpm(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'npm'), PLAIN_NPM);
  await chmod(join(folder, 'npm'), 0o755);
  return [folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
}
