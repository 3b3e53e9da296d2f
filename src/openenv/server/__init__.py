"""The ASGI side: WebSocket, HTTP, and the process that serves them."""
