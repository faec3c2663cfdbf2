import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from '../../support/gateway.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';

export interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: { content: Record<string, { schema?: { $ref?: string } }> };
  responses: Record<string, unknown>;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>> };
}

export interface Located {
  method: string;
  path: string;
  operation: Operation;
}

export function operationsOf({ paths }: Document): Located[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

/** Members that a JSON body needs. */
export function neededBy({ components }: Document, { requestBody }: Operation): string[] {
  const name = requestBody?.content['application/json']?.schema?.$ref?.split('/').at(-1) ?? '';
  return (components.schemas[name]?.['required'] ?? []) as string[];
}

export interface Checker {
  /** Fails when the document does not foresee the answer. */
  check(method: string, path: string, answer: Answer): void;
}

/** Holds answers against a document with a validator that is not ours. */
export function createChecker(document: Document): Checker {
  const ajv = createAjv({ allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: 'api', ...document });
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (reference: string): ValidateFunction => {
    const known = validators.get(reference);
    if (known) return known;
    const made = ajv.compile({ $ref: reference });
    validators.set(reference, made);
    return made;
  };
  return {
    check(method, target, { status, headers, body }) {
      const [pathname = ''] = target.split('?');
      const { path, operation } = find(document, method, pathname);
      const declared = operation.responses[String(status)];
      if (declared === undefined && status < 400) throw new Error(`${method} ${path}: ${status}?`);
      if (headers.get('content-type') !== 'application/json') return;
      const step = (name: string): string => name.replace(/~/g, '~0').replace(/\//g, '~1');
      const at = ['', 'paths', path, method.toLowerCase(), 'responses'];
      const pointer =
        declared === undefined
          ? (operation.responses['default'] as { $ref: string }).$ref.slice(1)
          : [...at, String(status)].map(step).join('/');
      const media = '/content/application~1json/schema';
      const validate = validatorOf(`api#${encodeURI(pointer + media)}`);
      if (validate(body)) return;
      throw new Error(
        `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
      );
    },
  };
}

/** The most literal template that fits. */
function find(document: Document, method: string, pathname: string): Located {
  const escape = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  const fitting = operationsOf(document)
    .filter((one) => one.method === method)
    .filter(({ path }) => {
      const pattern = escape(path)
        .replace(/\{\w+\}(?=$|:)/, '.+')
        .replace(/\{\w+\}/g, '[^/]+');
      return new RegExp(`^${pattern}$`).test(pathname);
    })
    .sort((a, b) => b.path.replace(/\{\w+\}/g, '').length - a.path.replace(/\{\w+\}/g, '').length);
  if (!fitting[0]) throw new Error(`not in the document: ${method} ${pathname}`);
  return fitting[0];
}
