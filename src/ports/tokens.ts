/** What a token allows; each includes those before it. */
export const ROLES = ['read', 'submit', 'operate'] as const;
export type TokenRole = (typeof ROLES)[number];

/** A bearer token of the HTTP API as it is stored: its value is not. */
export interface ApiToken {
  /** The actor of what it asks for. */
  name: string;
  role: TokenRole;
  /** SHA-256 of the token, hex. */
  sha256: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** Milliseconds since the epoch; null: never. */
  expiresAt: number | null;
}

/** Tokens of the HTTP API, one for each name. */
export interface TokenStore {
  /** False when there is one of this name. */
  add(token: ApiToken): Promise<boolean>;
  /** The token with this digest. */
  find(sha256: string): Promise<ApiToken | undefined>;
  /** By name. */
  list(): Promise<ApiToken[]>;
  remove(name: string): Promise<boolean>;
}
