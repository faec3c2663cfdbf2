import { createRequire } from 'node:module';
import { packageFile } from '../../core/package-root.ts';

const manifest = createRequire(import.meta.url)(packageFile('package.json')) as { version: string };

/** Of the gateway, as servers and callers are told it. */
export const VERSION: string = manifest.version;
