enum OutboxPlaceholder {}
