import { createRequire } from 'node:module';
import { packageFile } from '../../core/package-root.ts';

const manifest = createRequire(import.meta.url)(packageFile('package.json')) as { version: string };

/** Version of the gateway, as servers and callers see it. */
export const VERSION: string = manifest.version;
