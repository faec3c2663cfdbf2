import type { ScopeName } from './key.ts';
import type { Body } from './parse-body.ts';
import type { ResourceReply, ResourceRequest } from './handlers.ts';
import type { Repository } from './repository.ts';
import type { Stored } from './define-resource.ts';

/** A part of a form, read whole. */
export interface FormField {
  readonly name: string;
  /** Of a text field. */
  readonly value?: string | undefined;
  /** Of a file. */
  readonly filename?: string | undefined;
  readonly contentType?: string | undefined;
  readonly content?: Buffer | undefined;
}

/** A resource and what lies below its path. */
export interface ChildInput {
  repository: Repository;
  stored: Stored;
  request: ResourceRequest;
  /** Behind the name of the child. */
  segments: readonly string[];
}

/** A kind as its organization's keys reach it (contract: Endpoints). By id alone, never by name. */
export interface OrganizationApi {
  /** Below `/v1`. */
  readonly path: string;
  /** What a restricted key needs. */
  readonly scope: ScopeName;
  /** Members of the view that only administrators see. */
  readonly hidden: readonly string[];
  /** Member of an update that names the version which it was made for. */
  readonly guard?: string;
  /** The only members that an update may have; others answer 400. Default: unknown ones are ignored. */
  readonly updatable?: readonly string[];
  /** False: there is no update. */
  readonly changes?: false;
  /** True: successes are `{code, data, message}` and lists are whole (contract: Credential). */
  readonly coded?: boolean;
  /** True: bodies may be YAML. */
  readonly yaml?: boolean;
  /** `/{id}/{child}` and below. */
  readonly children?: Readonly<Record<string, (input: ChildInput) => Promise<ResourceReply>>>;
  /** The fields that a form stands for. */
  fromForm?: (fields: readonly FormField[]) => Body;
}
