// Frames that the proxy writes itself.
import { type ProxyError, wireDataOf } from '../errors.ts';

export const resultLine = (idText: string, resultText: string): string => `{"jsonrpc":"2.0","id":${idText},"result":${resultText}}\n`;

export function errorLine(idText: string, error: ProxyError): string {
  const { rpc: code, message } = error;
  return `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify({ code, message, data: wireDataOf(error) })}}\n`;
}

export const requestLine = (id: string, method: string, paramsText: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${paramsText}}\n`;

export const notificationLine = (method: string, paramsText: string): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${paramsText}}\n`;

export const updateLine = (sessionId: string, updateText: string): string =>
  notificationLine('session/update', `{"sessionId":${JSON.stringify(sessionId)},"update":${updateText}}`);
