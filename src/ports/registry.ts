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
  /**
   * Keeps the registry as it is for `forMs` milliseconds: changes wait. undefined when `expected` is no longer
   * the revision. `until`: when it ends, in milliseconds since the epoch by the store's clock.
   */
  hold(expected: number, forMs: number): Promise<{ id: string; until: number } | undefined>;
  /** Ends a hold before its time. */
  release(hold: string): Promise<void>;
  /** A document by its version, registered now or before. */
  version(digest: string): Promise<RegistryDocument | undefined>;
}
