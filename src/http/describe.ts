import type { HttpDeps } from './deps.js';
import { openApi } from './openapi.js';
import { createOperations } from './operations/built-in.js';

/** The OpenAPI document without a server: what operations work with is not needed to describe them. */
export const describeApi = (): Record<string, unknown> => openApi(createOperations({} as HttpDeps));
