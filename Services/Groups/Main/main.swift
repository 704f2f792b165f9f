import Groups
