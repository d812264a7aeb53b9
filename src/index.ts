export type { ScenarioWithBundle } from './app/opening.js';
export type { CheckHistory, PlanAnswer, PlanEvaluation, PlanStatus } from './app/plan/requests.js';
export { PlanRefusedError } from './app/plan/service.js';
export type { ToolAnswer, ToolInput } from './app/tools.js';
export { type Client, ClientError, type ClientOptions, createClient } from './client.js';
export type { Explanation } from './core/attachments/resolve.js';
export type { BatchRecord } from './core/batch.js';
export type { EvaluationDocument, IndexedEvaluation } from './core/document.js';
export { evaluateDocumentSchema, evaluationDocumentSchema } from './core/document.js';
export type { EventData, SluiceEvent } from './core/event-schemas.js';
export type { EventName } from './core/events.js';
export type {
  Applicable,
  Diagnosis,
  DiagnosisEntry,
  Phase,
  PlanCheck,
  PlanState,
} from './core/plan/model.js';
export { type ErrorCode, type Problem, SluiceError } from './core/problem.js';
export type { Attachment, Kind, Mode } from './core/registry/model.js';
export type { Registered } from './core/registry/register.js';
export type { Result, RuleResult } from './core/result.js';
export { type RunRecord, runRecordSchema } from './core/run-record.js';
export type { Rule, Scenario } from './core/scenario/model.js';
export { scenarioJsonSchema } from './core/scenario/schema.js';
export { type LoadedScenario, loadScenarios } from './inputs/scenario-files.js';
export {
  defineSkill,
  defineTool,
  defineValidation,
  type SkillDefinition,
  type ToolDefinition,
  type ValidationDefinition,
} from './library/definitions.js';
export type {
  Actor,
  Applied,
  AttachOptions,
  AttachSkillOptions,
  PlanFleet,
  PlanOptions,
  ResolveOptions,
  Snapshots,
} from './library/plans.js';
export type { ErrorHandler, EventHandler, FleetEvent } from './library/subscriptions.js';
export {
  createFleet,
  defineScenario,
  type Fleet,
  type FleetOptions,
  type JudgedBatch,
  type JudgeOptions,
} from './library.js';
export {
  definePlugin,
  type PluginContext,
  type PluginInput,
  type PluginResult,
  type PluginValidation,
} from './plugin.js';
export type { PlanFilter } from './ports/plans.js';
export {
  type CloudEvent,
  type CloudEventType,
  verifyWebhook,
  type WebhookErrorCode,
  type WebhookHeaders,
  type WebhookRequest,
  WebhookVerificationError,
} from './webhook.js';
