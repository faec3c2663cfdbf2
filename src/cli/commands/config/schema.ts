import { configJsonSchema } from '../../../config/schema/json-schema.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'schema'> = async () => ({ data: configJsonSchema() });
