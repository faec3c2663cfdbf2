/** Request headers as `node:http` gives them. */
export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Settings of a provider account that headers of a protocol may depend on. */
export interface HeaderSettings {
  readonly headers: Readonly<Record<string, string>>;
  readonly headerSpelling: 'vendor' | 'native';
  /** Beta identifiers that are kept from the provider; `*` for all. */
  readonly dropBetas: readonly string[];
  /** Beta identifiers that it cannot serve; `*` for all. */
  readonly refuseBetas: readonly string[];
}

/** The way in which requests of a protocol are addressed, wherever its provider is. */
export interface EndpointRules {
  /** Path of compatible servers, below a base URL that ends in the version. */
  readonly path: string;
  /** Value of `{method}` in the path for a request that names no operation. */
  method?(stream: boolean): string;
  /** Query of streams, without `?`. Default none. */
  readonly streamQuery?: string;
  /** True: an operation replaces the last segment of the path. Default: it is added to it. */
  readonly operationReplaces?: boolean;
  /** Headers that the protocol has of its own, read from the client's. Default none. */
  readonly headers?: {
    readonly names: readonly string[];
    /** Beginning of the names of further ones. */
    readonly prefix: string;
    toHeaders(account: HeaderSettings, client: ClientHeaders): string[];
  };
}

/** Provider to which reasoning can come back. */
export interface ReasoningReader {
  /** Id of the provider account. */
  readonly account: string;
  /** One name for all accounts of a vendor. */
  readonly vendor: string;
}

/** A wire protocol as its folder declares it: facts for every caller, and how to load the rest. */
export interface ProtocolDeclaration<Parts> {
  readonly provider: EndpointRules;
  /** True: its calls leave work with a provider that is asked about it without the client. Default false. */
  readonly leavesWork?: boolean;
  /**
   * The only reader of reasoning that a provider answers: the account that made it, or any of its
   * vendor. Default: every provider of the protocol.
   */
  readonly bindsReasoning?: keyof ReasoningReader;
  /** True: a signature without a text belongs to the part after it. Default false. */
  readonly signsNext?: boolean;
  /** Gives its `ProtocolParts`. */
  load(): Promise<Parts>;
}

export function defineProtocol<Parts>(
  declaration: ProtocolDeclaration<Parts>,
): ProtocolDeclaration<Parts> {
  return declaration;
}
