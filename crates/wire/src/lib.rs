//! What bytes look like: frames, messages, startup, the row serializer, the socket writer, COPY.
