import type { JsonObject } from '../../core/registry/model.js';

/** What a tool is called with. */
export interface ToolInput {
  args: JsonObject;
  /** The resource's snapshot, any JSON. */
  subject: unknown;
  resource: string | null;
  /** Slot that the resource is bound to. */
  slot: string | null;
}
