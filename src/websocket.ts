/** `wiretape/websocket`: a WebSocket class on tape. */
export { tapeWebSocket, type WebSocketClass } from "./boundary/websocket/tape-websocket.ts";
