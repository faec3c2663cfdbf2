import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Options } from 'ajv/dist/2020.js';

/** For schemas that judge a few documents each: to optimize their code takes longer than to run it. */
export function createAjv(options: Options = {}): Ajv2020 {
  return new Ajv2020({ strict: false, code: { optimize: false }, ...options });
}
