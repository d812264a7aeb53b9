/** Content stored once under its SHA-256 (claim check, DESIGN 5.1). */
export interface Blob {
  digest: string;
  content: string;
}
