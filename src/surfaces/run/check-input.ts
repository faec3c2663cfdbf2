import type { ErrorObject } from 'ajv/dist/2020.js';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-value.ts';

type Validate = (input: unknown) => { path: string; message: string } | undefined;

/** Checks inputs against the schemas that models publish. */
export interface InputChecker {
  /** Throws `invalid_request` with the path of what does not fit. */
  check(schema: unknown, input: unknown): Promise<void>;
}

/** Schemas are compiled once for as long as the catalog that holds them is served. */
export function createInputChecker(): InputChecker {
  const compiled = new WeakMap<object, Validate>();
  return {
    async check(schema, input) {
      // Models without one publish `{type: "object"}`, which every input is.
      if (!isJsonObject(schema)) return;
      let validate = compiled.get(schema);
      if (!validate) compiled.set(schema, (validate = await compile(schema)));
      const fault = validate(input);
      if (!fault) return;
      const param = `input${fault.path}`;
      const message = `\`${param}\` ${fault.message}`;
      throw new GatewayError('invalid_request', { message, param });
    },
  };
}

/** Loaded with the first schema: most gateways publish none. Throws for what is no JSON Schema. */
async function compile(schema: Record<string, unknown>): Promise<Validate> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  // Schemas of other drafts and with formats of their own are welcome: what is not known is not checked.
  const { $schema: _draft, ...rest } = schema;
  const validate = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(
    rest,
  );
  return (input) => {
    if (validate(input)) return undefined;
    const [error] = validate.errors ?? [];
    return { path: toPath(error?.instancePath ?? ''), message: toMessage(error) };
  };
}

/** `/messages/0/role` → `.messages[0].role`. */
function toPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}

function toMessage(error: ErrorObject | undefined): string {
  const what = error?.message ?? 'does not fit the schema of the model';
  const name: unknown = error?.params['additionalProperty'];
  return typeof name === 'string' ? `${what} (${name.slice(0, 100)})` : what;
}
