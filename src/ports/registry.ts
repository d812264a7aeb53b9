import type { Registry, RegistryChange, RegistryDocument } from '../core/registry/model.js';

/** Tools, validations, skills and attachments: read whole, changed by compare-and-set. */
export interface RegistryStore {
  /** Everything as it stands; the same object as before while nothing has changed. */
  read(): Promise<Registry>;
  /**
   * One atomic step; undefined when another change came first (`expected` is no longer the
   * revision). Versions that are put stay readable by `version` when they are replaced or removed.
   */
  change(expected: number, change: RegistryChange): Promise<Registry | undefined>;
  /** A document by its version, registered now or before. */
  version(digest: string): Promise<RegistryDocument | undefined>;
}
