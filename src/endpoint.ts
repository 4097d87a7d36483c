/** `wiretape/endpoint`: a scripted client that plays requests into an agent in this process. */
export type {
  EndpointAnswer,
  EndpointHandler,
  EndpointReply,
  EndpointRequest,
  EndpointSession,
} from "./drive/endpoint-agent.ts";
export { createEndpointMock, type EndpointMock, type EndpointMockOptions } from "./drive/endpoint-mock.ts";
export type { EndpointMessage, EndpointRequestScript } from "./drive/endpoint-request.ts";
export { loadEndpointMock } from "./drive/load-endpoint.ts";
export type { FlatEvent, PatternValue, TracePattern } from "./pattern.ts";
