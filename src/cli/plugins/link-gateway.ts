import { mkdir, readlink, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../../core/package-root.ts';

/**
 * Makes `agent-gateway` below a folder mean this very package, so that a plugin and the command line
 * have the same classes, also after the gateway was moved or another version of it runs.
 */
export async function linkGateway(folder: string): Promise<void> {
  const link = join(folder, 'node_modules', 'agent-gateway');
  const target = await readlink(link).catch(() => undefined);
  if (target === PACKAGE_ROOT) return;
  await rm(link, { recursive: true, force: true });
  await mkdir(dirname(link), { recursive: true });
  try {
    await symlink(PACKAGE_ROOT, link, 'junction');
  } catch (thrown) {
    // Another command was quicker with the same link.
    if ((await readlink(link).catch(() => undefined)) !== PACKAGE_ROOT) throw thrown;
  }
}
