import { fileURLToPath } from 'node:url';

/** The folder of this package, two above both the source and the built file. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/[/\\]$/, '');
