enum MessagesPlaceholder {}
